import { createServer, STATUS_CODES } from "node:http";
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { answerCors, type CorsPolicy } from "./cors.ts";
import type { Invoker } from "./invocation.ts";
import type { HostLog } from "./host-log.ts";
import { errorText } from "./host-log.ts";
import type { RouteTable } from "./http-routing.ts";
import { refusalOf, REQUEST_LINE_BYTES_MAX, requestTarget, toHttpData } from "./http-request.ts";
import { sendEmpty, sendResponse, SERVER } from "./http-response.ts";
import { HttpThrottle } from "./http-throttle.ts";
import type { Settings } from "./settings.ts";

/** Kestrel's limits, which decide what a client with a reused connection or a long header sees. */
const KEEP_ALIVE_MS = 130_000;
const HEADERS_TIMEOUT_MS = 30_000;
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
        maxHeaderSize: HEAD_BYTES_MAX,
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
    const { cors, routes, invoker } = this.#options;
    if (cors !== undefined && answerCors(cors, request, response)) return;
    const { method = "GET", url = "/", headers } = request;
    const target = requestTarget(url);
    if (target === undefined) return sendEmpty(response, 400);
    const own = this.#ownStatus(target.path.toLowerCase());
    if (own !== undefined)
      return sendEmpty(response, own, own === 401 ? { "WWW-Authenticate": "Bearer" } : {});
    const match = routes.match(method, target.path);
    if (match === undefined) return sendEmpty(response, 404);
    if (Number(headers["content-length"] ?? 0) > this.#options.bodyBytesMax)
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

/** Returns the body. One in chunks reaches the function empty: the host checks nothing but Content-Length. */
async function readBody(request: IncomingMessage): Promise<Buffer> {
  const isKept = request.headers["content-length"] !== undefined;
  const chunks: Buffer[] = [];
  for await (const chunk of request as AsyncIterable<Buffer>) if (isKept) chunks.push(chunk);
  return Buffer.concat(chunks);
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
