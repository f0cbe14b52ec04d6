import { createServer, STATUS_CODES } from "node:http";
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { answerCors, type CorsPolicy } from "./cors.ts";
import type { Invoker } from "./invocation.ts";
import type { HostLog } from "./host-log.ts";
import { errorText } from "./host-log.ts";
import type { RouteTable } from "./http-routing.ts";
import {
  declaredLength,
  refusalOf,
  REQUEST_LINE_BYTES_MAX,
  requestTarget,
  toHttpData,
} from "./http-request.ts";
import { sendEmpty, sendResponse, SERVER } from "./http-response.ts";
import { HttpThrottle } from "./http-throttle.ts";
import type { Settings } from "./settings.ts";

/** Kestrel's limits, which decide what a slow client or one with a reused connection sees. */
const KEEP_ALIVE_MS = 130_000;
const HEADERS_TIMEOUT_MS = 30_000;
/** How often Kestrel and this server look for what is too slow. */
const CHECK_MS = 1_000;
/** Bytes a second, on average, that a body has to come with after the grace. */
const BYTES_PER_SECOND_MIN = 240;
const GRACE_MS = 5_000;
/** Limit of request line and headers together, above which Node parses no further. Below it each request is measured. */
const HEAD_BYTES_MAX = 1024 * 1024;
/** The Functions host's own limit of a body, where no setting changes it. */
const BODY_BYTES_MAX = 104_857_600;
const BODY_LIMIT_SETTING = "FUNCTIONS_REQUEST_BODY_SIZE_LIMIT";

/** Returns the limit of a body that has its length declared. @throws Error for a setting that is no number of bytes */
export function bodyBytesMax(settings: Settings): number {
  const text = settings[BODY_LIMIT_SETTING] ?? "";
  if (text === "") return BODY_BYTES_MAX;
  if (!/^[1-9]\d{0,11}$/.test(text))
    throw new Error(`${BODY_LIMIT_SETTING} must be a number of bytes, not ${JSON.stringify(text)}`);
  return Number(text);
}

export interface HttpServerOptions {
  /** What the paths of all functions begin with, without slashes. */
  readonly routePrefix: string;
  readonly routes: RouteTable;
  readonly invoker: Invoker;
  readonly log: HostLog;
  readonly maxConcurrentRequests: number;
  /** How many requests run and wait together. Any more are 429. */
  readonly maxOutstandingRequests: number;
  /** Limit of a declared body, beyond which the host answers and reads nothing of it. */
  readonly bodyBytesMax: number;
  readonly cors: CorsPolicy | undefined;
  /** The opposite of `AzureWebJobsDisableHomepage`. */
  readonly showsHomepage: boolean;
}

/** The functions with an HTTP trigger, behind Node's own server. */
export class HttpServer {
  readonly #options: HttpServerOptions;
  readonly #throttle: HttpThrottle;
  readonly #server: Server;
  readonly #open = new Set<ServerResponse>();
  #drained: PromiseWithResolvers<void> | undefined;

  constructor(options: HttpServerOptions) {
    this.#options = options;
    this.#throttle = new HttpThrottle(options);
    this.#server = createServer(
      {
        keepAliveTimeout: KEEP_ALIVE_MS,
        headersTimeout: HEADERS_TIMEOUT_MS,
        connectionsCheckingInterval: CHECK_MS,
        // A body may take as long as it likes, if it comes fast enough.
        requestTimeout: 0,
        maxHeaderSize: HEAD_BYTES_MAX,
        // Kestrel takes control characters in a header too, lines that end with LF alone, and a length next to chunks.
        insecureHTTPParser: true,
      },
      (request, response) => void this.#answer(request, response),
    );
    this.#server.on("clientError", answerUnparsed);
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

  /** Takes no new connection and no further request on an old one. Resolves when every answer is sent. */
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

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    this.#open.add(response);
    endIfUnread(request, response);
    response.once("close", () => {
      this.#open.delete(response);
      if (this.#open.size === 0) this.#drained?.resolve();
    });
    if (this.#drained !== undefined) response.setHeader("Connection", "close");
    response.setHeader("Server", SERVER);
    try {
      await this.#route(request, response);
    } catch (error) {
      if (error instanceof SlowBody) return sendLast(request, response, 500);
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
    const { cors, routes, invoker } = this.#options;
    if (cors !== undefined && answerCors(cors, request, response)) return;
    const { method = "GET", url = "/", headers } = request;
    const length = declaredLength(request);
    const target = requestTarget(url);
    if (target === undefined) return sendEmpty(response, 400);
    const own = this.#ownStatus(target.path.toLowerCase());
    if (own === 200 && target.path === "/") {
      // Azure shows a page of its own here. Who opens the local one looks for the API.
      const api = `/${this.#options.routePrefix}`;
      const page = `<!doctype html><html lang="en"><meta charset="utf-8"><title>The local host</title><p>The relay runs. Its API is below <code>${api}</code>: <a href="${api}/docs">the reference</a>.</p></html>`;
      response.writeHead(200, { Server: SERVER, "Content-Type": "text/html; charset=utf-8" });
      response.end(page);
      return;
    }
    if (own !== undefined)
      return sendEmpty(response, own, own === 401 ? { "WWW-Authenticate": "Bearer" } : {});
    const match = routes.match(method, target.path);
    if (match === undefined) {
      const { routePrefix } = this.#options;
      const first = target.path.toLowerCase().split("/")[1];
      if (routePrefix === "" || first === routePrefix.toLowerCase())
        return sendEmpty(response, 404);
      // The Functions host has no body here. People who leave out the prefix are developers at this host.
      const message = `There is no such route. Paths begin with /${routePrefix}/.`;
      const body = JSON.stringify({ error: { code: "not_found", message, details: {} } });
      response.writeHead(404, {
        Server: SERVER,
        "Content-Type": "application/json; charset=utf-8",
      });
      response.end(body);
      return;
    }
    if (length !== undefined && length > this.#options.bodyBytesMax)
      return sendLast(request, response, 500);
    // Before the request takes one of the slots: an unfinished body holds a connection and nothing else.
    const data = toHttpData(request, target, match.values, await readBody(request));
    const isTaken = await this.#throttle.run(async () => {
      const result = await invoker.invoke(match.functionName, {
        input: { http: data },
        metadata: {},
        traceParent: headers["traceparent"]?.toString(),
        traceState: headers["tracestate"]?.toString(),
      });
      if (result.succeeded) sendResponse(response, result.response.returnValue?.http);
      else sendEmpty(response, 500);
    });
    if (!isTaken) {
      // It asks Azure for one more instance, and doesn't say when to come back.
      sendEmpty(response, 429, { "X-FUNCTION-SCALEOUT": "1" });
    }
  }

  /** Returns the status of the host's own paths: the home page, two for anybody, and what its keys alone open. */
  #ownStatus(path: string): number | undefined {
    if (path === "/") return this.#options.showsHomepage ? 200 : 204;
    if (path === "/admin/host/ping" || path === "/admin/warmup") return 200;
    return path.startsWith("/admin/") || path.startsWith("/runtime/webhooks/") ? 401 : undefined;
  }
}

class SlowBody extends Error {}

/**
 * Returns the body. One in chunks reaches the function empty: the host checks nothing but Content-Length.
 * @throws SlowBody when it comes with fewer bytes a second than the web server wants
 */
async function readBody(request: IncomingMessage): Promise<Buffer> {
  const isKept = declaredLength(request) !== undefined;
  const chunks: Buffer[] = [];
  let bytes = 0;
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  request.on("data", (chunk: Buffer) => {
    bytes += chunk.length;
    if (isKept) chunks.push(chunk);
  });
  request.once("end", resolve);
  request.once("error", reject);
  request.once("close", () => reject(new Error("the caller went away")));
  const startedAt = performance.now();
  const check = setInterval(() => {
    const elapsedMs = performance.now() - startedAt;
    if (elapsedMs > GRACE_MS && (bytes * 1_000) / elapsedMs < BYTES_PER_SECOND_MIN)
      reject(new SlowBody("the body comes too slowly"));
  }, CHECK_MS);
  await promise.finally(() => clearInterval(check));
  return Buffer.concat(chunks);
}

/** Gives a body that nothing reads as long as the web server gives it after the answer. */
function endIfUnread(request: IncomingMessage, response: ServerResponse): void {
  response.once("finish", () => {
    if (request.complete) return;
    const timer = setTimeout(() => request.socket.destroy(), GRACE_MS);
    for (const end of ["end", "close"]) request.once(end, () => clearTimeout(timer));
    request.resume();
  });
}

/** Answers and ends the connection, of which the rest is not read as a request. */
function sendLast(request: IncomingMessage, response: ServerResponse, status: number): void {
  response.setHeader("Connection", "close");
  sendEmpty(response, status);
  // Closing on a caller that is still sending would reset the connection and lose the answer with it.
  request.resume();
}

/** Answers what Node can't parse with the status of the Functions host, and ends the connection. */
function answerUnparsed(
  error: Error & { code?: string; rawPacket?: Buffer },
  socket: Socket,
): void {
  if (!socket.writable) return void socket.destroy();
  if (error.code === "ERR_HTTP_REQUEST_TIMEOUT" && socket.bytesRead === 0) {
    // Nothing was begun on the connection, which may be idle for longer than a request may be incomplete.
    const timer = setTimeout(
      () => socket.bytesRead === 0 && socket.destroy(),
      KEEP_ALIVE_MS - HEADERS_TIMEOUT_MS,
    );
    return void socket.once("close", () => clearTimeout(timer));
  }
  const status = statusOfUnparsed(error);
  const head = ["Content-Length: 0", "Connection: close", `Server: ${SERVER}`];
  socket.end([`HTTP/1.1 ${status} ${STATUS_CODES[status]}`, ...head, "\r\n"].join("\r\n"));
}

function statusOfUnparsed({ code, rawPacket }: { code?: string; rawPacket?: Buffer }): number {
  if (code === "ERR_HTTP_REQUEST_TIMEOUT") return 408;
  // Node knows the methods of its list alone. No function has another one.
  if (code === "HPE_INVALID_METHOD" && /^[a-z-]+ /i.test(String(rawPacket))) return 404;
  if (code !== "HPE_HEADER_OVERFLOW") return 400;
  const lineEnd = rawPacket?.indexOf("\n") ?? -1;
  return lineEnd === -1 || lineEnd > REQUEST_LINE_BYTES_MAX ? 414 : 431;
}
