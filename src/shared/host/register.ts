import {
  app,
  type HttpRequest,
  type HttpResponseInit,
  type InvocationContext,
} from "@azure/functions";
import type { Config } from "../config/config.ts";
import type { Invocation } from "../runtime/telemetry/work-context.ts";
import type { answer, Outgoing } from "../http/answer.ts";
import type { HttpDeps } from "../http/deps.ts";
import type { Incoming } from "../http/parse-input.ts";
import { methodsOf, type Route, type RouteKey } from "../http/route.ts";
import type { runTimer, Timer, Worker } from "./worker.ts";

function toInvocation(context: InvocationContext): Invocation {
  return {
    traceParent: context.traceContext?.traceParent,
    write(level, line) {
      switch (level) {
        // The setting LOG_LEVEL has already filtered it. The host's own level would hide debug lines.
        case "debug":
        case "info":
          return context.info(line);
        case "warn":
          return context.warn(line);
        case "error":
          return context.error(line);
      }
    },
  };
}

/** What the registered functions run (`src/functions/running.ts`), loaded with the first call of any of them. */
export interface Running {
  readonly services: HttpDeps;
  readonly answer: typeof answer;
  readonly runTimer: typeof runTimer;
  readonly findRoute: (routeKey: RouteKey) => Promise<Route>;
  readonly findWorker: (queue: string) => Worker;
  answerUnrouted(incoming: Incoming, path: string): Promise<Outgoing>;
  /** Prepares for the end of the process in `seconds`. */
  stop(seconds: number): Promise<void>;
  /** Prepares for the end as `stop` does, and sends the last metrics. */
  end(seconds: number): Promise<void>;
}

type Load = () => Promise<Running>;

function toIncoming(request: HttpRequest, context: InvocationContext): Incoming {
  const headers = new Headers();
  for (const [name, value] of request.headers.entries()) headers.append(name, value);
  return {
    method: request.method,
    url: new URL(request.url),
    headers,
    params: request.params,
    body: async () => new Uint8Array(await request.arrayBuffer()),
    host: toInvocation(context),
  };
}

function toResponseInit({ status, headers, body }: Outgoing): HttpResponseInit {
  return { status, headers, ...(body === undefined ? {} : { body }) };
}

/** Returns the name of a function on the host: `GET v1/posts/{postId}` → `get-v1-posts-postId`. */
export function functionName({ method, path }: RouteKey): string {
  return [method.toLowerCase(), ...path.split("/")].join("-").replace(/[^A-Za-z0-9-]/g, "");
}

/** Registers an HTTP function for every route, and one that answers all other requests in the envelope. */
export function registerRoutes(routeKeys: readonly RouteKey[], load: Load): void {
  for (const routeKey of routeKeys) {
    app.http(functionName(routeKey), {
      methods: [...methodsOf(routeKey)],
      route: routeKey.path,
      authLevel: "anonymous",
      handler: async (request, context) => {
        const { services, findRoute, answer } = await load();
        const route = await findRoute(routeKey);
        return toResponseInit(await answer(route, services, toIncoming(request, context)));
      },
    });
  }
  app.http("unrouted", {
    methods: ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"],
    route: "{*path}",
    authLevel: "anonymous",
    handler: async (request, context) => {
      const running = await load();
      const path = request.params["path"] ?? "";
      return toResponseInit(await running.answerUnrouted(toIncoming(request, context), path));
    },
  });
}

/** Registers a function for every queue. The host passes a message as an object, or as text when it isn't JSON. */
export function registerWorkers(queues: readonly string[], config: Config, load: Load): void {
  for (const queue of queues) {
    app.storageQueue(queue, {
      queueName: config.storage.prefix + queue,
      connection: "AzureWebJobsStorage",
      handler: async (message, invocation) => {
        const { services, findWorker } = await load();
        const dequeueCount = Number(invocation.triggerMetadata?.["dequeueCount"]);
        const host = { ...toInvocation(invocation), dequeueCount };
        await findWorker(queue).handle(services, message, host);
      },
    });
  }
}

export function registerTimers(timers: readonly Timer[], config: Config, load: Load): void {
  for (const timer of timers) {
    app.timer(timer.name, {
      schedule: timer.schedule({ config }),
      handler: async ({ isPastDue }, invocation) => {
        const { services, runTimer } = await load();
        await runTimer(services, timer, isPastDue, toInvocation(invocation));
      },
    });
  }
}
