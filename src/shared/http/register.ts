import {
  app,
  type HttpRequest,
  type HttpResponseInit,
  type InvocationContext,
} from "@azure/functions";
import type { Config } from "../runtime/config.ts";
import type { Invocation } from "../runtime/telemetry/work-context.ts";
import type { Outgoing } from "./answer.ts";
import type { Incoming } from "./incoming.ts";
import { toInvocation } from "./invocation.ts";
import { methodsOf, type Endpoint } from "./route.ts";
import type { Timer } from "./worker.ts";

/** What functions run. A start registers them without it: the first call of any of them loads it. */
export interface Running {
  answer(endpoint: Endpoint, incoming: Incoming): Promise<Outgoing>;
  answerUnrouted(incoming: Incoming, path: string): Promise<Outgoing>;
  work(worker: string, message: unknown, host: Invocation): Promise<void>;
  runTimer(timer: Timer, isPastDue: boolean, host: Invocation): Promise<void>;
  end(): Promise<void>;
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

function toResponse({ status, headers, body }: Outgoing): HttpResponseInit {
  return { status, headers, ...(body === undefined ? {} : { body }) };
}

/** `GET v1/posts/{postId}` → `get-v1-posts-postId`: the function's name on the host. */
function functionName({ method, path }: Endpoint): string {
  return [method.toLowerCase(), ...path.split("/")].join("-").replace(/[^A-Za-z0-9-]/g, "");
}

/** Makes one HTTP function of every route, and one that answers everything else in the envelope. */
export function registerRoutes(endpoints: readonly Endpoint[], load: Load): void {
  for (const endpoint of endpoints) {
    app.http(functionName(endpoint), {
      methods: [...methodsOf(endpoint)],
      route: endpoint.path,
      authLevel: "anonymous",
      handler: async (request, context) => {
        const running = await load();
        return toResponse(await running.answer(endpoint, toIncoming(request, context)));
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
      return toResponse(await running.answerUnrouted(toIncoming(request, context), path));
    },
  });
}

/** What the host hands over is an object already, or text when it was no JSON. */
export function registerWorkers(
  queues: readonly { readonly name: string; readonly queue: string }[],
  config: Config,
  load: Load,
): void {
  for (const { name, queue } of queues) {
    app.storageQueue(name, {
      queueName: config.storage.prefix + queue,
      connection: "AzureWebJobsStorage",
      handler: async (message, invocation) => {
        const running = await load();
        await running.work(name, message, toInvocation(invocation));
      },
    });
  }
}

export function registerTimers(timers: readonly Timer[], config: Config, load: Load): void {
  for (const timer of timers) {
    app.timer(timer.name, {
      schedule: timer.schedule({ config }),
      handler: async ({ isPastDue }, invocation) => {
        const running = await load();
        await running.runTimer(timer, isPastDue, toInvocation(invocation));
      },
    });
  }
}
