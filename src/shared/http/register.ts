import {
  app,
  type HttpRequest,
  type HttpResponseInit,
  type InvocationContext,
} from "@azure/functions";
import type { Services } from "../services.ts";
import { answer, answerUnrouted, type Outgoing } from "./answer.ts";
import type { Incoming } from "./incoming.ts";
import { toInvocation } from "./invocation.ts";
import { methodsOf, type Route } from "./route.ts";

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
function functionName({ method, path }: Route): string {
  return [method.toLowerCase(), ...path.split("/")].join("-").replace(/[^A-Za-z0-9-]/g, "");
}

/** Makes one HTTP function of every route, and one that answers everything else in the envelope. */
export function registerRoutes(routes: readonly Route[], services: Services): void {
  for (const route of routes) {
    app.http(functionName(route), {
      methods: [...methodsOf(route)],
      route: route.path,
      authLevel: "anonymous",
      handler: async (request, context) =>
        toResponse(await answer(route, services, toIncoming(request, context))),
    });
  }
  app.http("unrouted", {
    methods: ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"],
    route: "{*path}",
    authLevel: "anonymous",
    handler: async (request, context) => {
      const path = request.params["path"] ?? "";
      return toResponse(await answerUnrouted(routes, services, toIncoming(request, context), path));
    },
  });
}
