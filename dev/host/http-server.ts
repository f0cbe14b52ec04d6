import { once } from "node:events";
import { createServer, ServerResponse } from "node:http";
import type { IncomingMessage, Server } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import type { Duplex } from "node:stream";
import { answerUnparsed } from "./http-unparsed.ts";
import { answerCors, type CorsPolicy } from "./cors.ts";
import type { HttpData } from "./core-types.ts";
import type { Invoker } from "./invocation.ts";
import type { HostLog } from "./host-log.ts";
import { errorText } from "./host-log.ts";
import type { RouteTable } from "./http-routing.ts";
import { BODY_LIMITS, BodyReader } from "./http-body.ts";
import { refusalOf, requestTarget, toHttpData } from "./http-request.ts";
import type { RequestTarget } from "./http-request.ts";
import { sendEmpty, sendResponse, SERVER } from "./http-response.ts";
import { HttpThrottle } from "./http-throttle.ts";

/** Kestrel's limits, which decide what a client with a reused connection or a long header sees. */
const KEEP_ALIVE_MS = 130_000;
const HEADERS_TIMEOUT_MS = 30_000;
/** Of request line and headers together, above which Node parses no further. What is less is counted for each request. */
const HEAD_BYTES_MAX = 1024 * 1024;

export interface HttpServerOptions {
  readonly routes: RouteTable;
  readonly invoker: Invoker;
  readonly log: HostLog;
  readonly bodyBytesMax: number;
  readonly maxConcurrentRequests: number;
  readonly maxOutstandingRequests: number;
  readonly cors?: CorsPolicy | undefined;
  /** `AzureWebJobsDisableHomepage`. */
  readonly showHomepage: boolean;
}

/** The functions with an HTTP trigger, behind Node's own server. */
export class HttpServer {
  readonly #options: HttpServerOptions;
  readonly #throttle: HttpThrottle;
  readonly #bodies: BodyReader;
  readonly #server: Server;
  readonly #open = new Set<ServerResponse>();
  #drained: PromiseWithResolvers<void> | undefined;

  constructor(options: HttpServerOptions) {
    this.#options = options;
    this.#throttle = new HttpThrottle(
      options.maxConcurrentRequests,
      options.maxOutstandingRequests,
    );
    this.#bodies = new BodyReader({ ...BODY_LIMITS, bytesMax: options.bodyBytesMax });
    this.#server = createServer(
      {
        keepAliveTimeout: KEEP_ALIVE_MS,
        headersTimeout: HEADERS_TIMEOUT_MS,
        maxHeaderSize: HEAD_BYTES_MAX,
      },
      (request, response) => void this.#answer(request, response),
    );
    this.#server.on("clientError", (error: Error, socket: Socket) => {
      const address = this.#server.address() as AddressInfo | null;
      answerUnparsed({ error, socket, address, answered: () => this.#answeredOn(socket) });
    });
    // A method like any other that no function has; Node closes the connection where nobody listens.
    this.#server.on("connect", (request: IncomingMessage, socket: Duplex) => {
      const response = new ServerResponse(request);
      response.assignSocket(socket as Socket);
      response.once("finish", () => socket.end());
      response.setHeader("Connection", "close");
      void this.#answer(request, response);
    });
  }

  /** Resolves with the port, which differs from the one asked for when that is 0. */
  async listen(port: number, address: string): Promise<number> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    this.#server.once("error", reject);
    this.#server.listen(port, address, resolve);
    try {
      await promise;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EADDRINUSE") throw error;
      throw new Error(`port ${port} is in use: set PORT to a free one`, { cause: error });
    }
    return (this.#server.address() as AddressInfo).port;
  }

  /** No new connection and no further request on an old one. Resolves when every answer is out. */
  drain(): Promise<void> {
    this.#drained ??= Promise.withResolvers();
    this.#server.close();
    for (const response of this.#open)
      if (!response.headersSent) response.setHeader("Connection", "close");
    if (this.#open.size === 0) this.#drained.resolve();
    return this.#drained.promise;
  }

  /** Ends what is still open, finished or not. */
  close(): void {
    this.#server.closeAllConnections();
  }

  /** Resolves when every request that this connection has brought so far is answered. */
  #answeredOn(socket: Socket): Promise<unknown> {
    const open = [...this.#open].filter((response) => response.req.socket === socket);
    return Promise.all(open.map((response) => once(response, "close")));
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    this.#open.add(response);
    response.once("close", () => {
      this.#open.delete(response);
      if (this.#open.size === 0) this.#drained?.resolve();
    });
    if (this.#drained !== undefined) response.setHeader("Connection", "close");
    response.setHeader("Server", SERVER);
    try {
      await this.#route(request, response);
    } catch (error) {
      // The caller went away in the middle of its body: nobody is left to answer.
      if (request.destroyed && !request.complete) return;
      this.#options.log.write("error", `HTTP request failed\n${errorText(error)}`);
      if (response.headersSent) response.destroy();
      else sendEmpty(response, 500);
    }
  }

  async #route(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const refusal = refusalOf(request);
    if (refusal !== undefined) return sendLast(request, response, refusal);
    const { cors } = this.#options;
    if (cors !== undefined && answerCors(cors, request, response)) return;
    const target = requestTarget(request.url ?? "/");
    if (target === undefined) return sendEmpty(response, 400);
    const own = hostStatus(target.path);
    if (own !== undefined) return sendEmpty(response, own);
    const match = this.#options.routes.match(request.method ?? "GET", target.path);
    if (match === undefined) return this.#sendUnrouted(target, response);
    // This host has no keys, so that nobody can send one.
    if (match.needsKey) return sendEmpty(response, 401);
    const body = await this.#bodies.read(request);
    if (typeof body === "number") return sendLast(request, response, body);
    const data = toHttpData(request, target, match.values, body);
    const answered = await this.#throttle.run(async () => {
      await this.#invoke(match.functionName, data, request, response);
      return true;
    });
    if (answered !== undefined) return;
    sendEmpty(response, 429, { "X-FUNCTION-SCALEOUT": "1" });
  }

  #sendUnrouted(target: RequestTarget, response: ServerResponse): void {
    if (target.path !== "/") return sendEmpty(response, 404);
    if (!this.#options.showHomepage) return sendEmpty(response, 204);
    response.setHeader("Content-Type", "text/html; charset=utf-8");
    response.setHeader("Transfer-Encoding", "chunked");
    response.end(
      "<!doctype html><title>Functions</title><p>Your Functions app is up and running.</p>\n",
    );
  }

  async #invoke(
    functionName: string,
    data: HttpData,
    request: IncomingMessage,
    response: ServerResponse,
  ): Promise<void> {
    const result = await this.#options.invoker.invoke(functionName, {
      input: { http: data },
      metadata: {},
      traceParent: single(request.headers["traceparent"]),
      traceState: single(request.headers["tracestate"]),
    });
    if (result.succeeded) sendResponse(response, result.response.returnValue?.http ?? undefined);
    else sendEmpty(response, 500);
  }
}

/** The host's own paths: a ping for anybody, and what its keys alone open. */
function hostStatus(path: string): 200 | 401 | undefined {
  const own = path.toLowerCase();
  if (own === "/admin/host/ping") return 200;
  return own.startsWith("/admin/") || own.startsWith("/runtime/webhooks/") ? 401 : undefined;
}

/** Answers and ends the connection, of which the rest is not read as a request. */
function sendLast(request: IncomingMessage, response: ServerResponse, status: number): void {
  response.setHeader("Connection", "close");
  sendEmpty(response, status);
  // Closing on a caller that is still sending would reset the connection and lose the answer with it.
  request.resume();
}

function single(header: string | string[] | undefined): string | undefined {
  return Array.isArray(header) ? header[0] : header;
}
