import { Readable } from "node:stream";
import type { Dispatcher } from "undici";
import { codingsOf, decodedBody } from "./content-coding.ts";
import {
  type StreamedBody,
  HttpFailure,
  type HttpRequest,
  type HttpResponse,
  parseAnswer,
} from "./http-call.ts";

const BYTES_MAX_DEFAULT = 1024 * 1024;

const NOT_SENT: Readonly<Record<string, HttpFailure["reason"]>> = {
  EBLOCKED: "blocked_address",
  ENOTFOUND: "connect_failed",
  EAI_AGAIN: "connect_failed",
  ECONNREFUSED: "connect_failed",
  EHOSTUNREACH: "connect_failed",
  ENETUNREACH: "connect_failed",
  UND_ERR_CONNECT_TIMEOUT: "timeout",
};

/** Turns a failed call into an `HttpFailure`, which says whether the other side may have received the request. */
export function toFailure(error: unknown): HttpFailure {
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  const reason = NOT_SENT[code];
  if (reason !== undefined) return new HttpFailure("not_sent", reason, { cause: error });
  if (/^(ERR_TLS|ERR_SSL|CERT_|DEPTH_ZERO|UNABLE_TO_|SELF_SIGNED|EPROTO)/.test(code))
    return new HttpFailure("not_sent", "tls_failed", { cause: error });
  if (code === "UND_ERR_HEADERS_OVERFLOW")
    return new HttpFailure("in_doubt", "headers_too_large", { cause: error });
  if (code === "UND_ERR_RES_EXCEEDED_MAX_SIZE")
    return new HttpFailure("in_doubt", "too_large", { cause: error });
  if (/TIMEOUT/.test(code) || (error instanceof Error && error.name === "TimeoutError"))
    return new HttpFailure("in_doubt", "timeout", { cause: error });
  return new HttpFailure("in_doubt", "connection_lost", { cause: error });
}

function decodeUtf8(body: Uint8Array): string {
  return new TextDecoder().decode(body);
}

function responseHeaders(response: Dispatcher.ResponseData): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const [name, value] of Object.entries(response.headers))
    if (value !== undefined) headers[name] = Array.isArray(value) ? value.join(", ") : value;
  // `Location` is not a list (RFC 9110, 10.2.2). Servers that send it twice send the same URL.
  const { location, "set-cookie": cookies } = response.headers;
  if (Array.isArray(location)) headers["location"] = location[0] ?? "";
  // Neither is `Set-Cookie`, whose dates have commas (RFC 9110, 5.3). A header never has a line break.
  if (Array.isArray(cookies)) headers["set-cookie"] = cookies.join("\n");
  return headers;
}

/** Status of a partial body. A part of a coded body can't be decoded alone. */
const PARTIAL = 206;

/**
 * Returns headers and body with all known content codings removed. Servers apply codings that were not requested, which
 * they may do when a request names none (RFC 9110, 12.5.3). Codings that remain in `content-encoding` are not removed.
 */
function withoutCodings(response: Dispatcher.ResponseData) {
  const { "content-encoding": coding, "content-length": _, ...headers } = responseHeaders(response);
  const body = response.body as AsyncIterable<Uint8Array>;
  const plain = { headers: responseHeaders(response), chunks: () => body };
  if (coding === undefined || response.statusCode === PARTIAL) return plain;
  const codings = codingsOf(coding);
  if (codings.length === 0) return plain;
  return { headers, chunks: () => decodedBody(body, codings) };
}

function toHttpResponse(
  status: number,
  headers: HttpResponse["headers"],
  body: Uint8Array,
): HttpResponse {
  return {
    status,
    headers,
    body,
    text: () => decodeUtf8(body),
    json: () => parseAnswer(decodeUtf8(body)),
  };
}

export async function readResponse(
  response: Dispatcher.ResponseData,
  { bytesMax = BYTES_MAX_DEFAULT, beyondMax = "fail" }: HttpRequest,
): Promise<HttpResponse> {
  const { headers, chunks } = withoutCodings(response);
  const kept: Uint8Array[] = [];
  let length = 0;
  try {
    for await (const chunk of chunks()) {
      length += chunk.length;
      kept.push(chunk);
      if (length <= bytesMax) continue;
      response.body.destroy();
      if (beyondMax === "fail") throw new HttpFailure("in_doubt", "too_large");
      break;
    }
  } catch (error) {
    const isOfBody = error instanceof HttpFailure && error.reason === "undecodable";
    // Only the status matters to this caller, so an unreadable body is no error.
    if (!isOfBody || beyondMax === "fail") throw error;
  }
  return toHttpResponse(response.statusCode, headers, Buffer.concat(kept).subarray(0, bytesMax));
}

/** An answer whose body is read chunk by chunk, or not at all. */
export interface OpenedResponse extends Pick<HttpResponse, "status" | "headers"> {
  /**
   * Returns the bytes, once. Leaving the loop early ends the transfer.
   * @throws HttpFailure when the transfer breaks off
   */
  chunks(): AsyncIterable<Uint8Array>;
  /** Ends the transfer without reading the body. */
  cancel(): void;
}

/** A body in the form that the client library accepts. It keeps the error of generating it, which isn't the other side's. */
export class SentBody {
  readonly #body: HttpRequest["body"];
  failure: unknown;

  constructor(body: HttpRequest["body"]) {
    this.#body = body;
  }

  get #streamed(): StreamedBody | undefined {
    const body = this.#body;
    return typeof body === "object" && "chunks" in body ? body : undefined;
  }

  /** The length of a stream. Without it, the client library would send chunks. */
  get headers(): Record<string, string> {
    const streamed = this.#streamed;
    return streamed === undefined ? {} : { "content-length": String(streamed.size) };
  }

  toBody(): string | Uint8Array | Readable | undefined {
    const streamed = this.#streamed;
    if (streamed !== undefined)
      return Readable.from(this.#watched(streamed), { objectMode: false });
    const body = this.#body;
    return typeof body === "string" || body instanceof Uint8Array ? body : undefined;
  }

  async *#watched(streamed: StreamedBody): AsyncGenerator<Uint8Array> {
    try {
      yield* streamed.chunks();
    } catch (error) {
      this.failure = error;
      throw error;
    }
  }
}

export function toOpened(response: Dispatcher.ResponseData): OpenedResponse {
  const { body } = response;
  // A transfer that was ended is reported as an error of the body, for which nothing waits any more.
  body.on("error", () => undefined);
  const { headers, chunks } = withoutCodings(response);
  return {
    status: response.statusCode,
    headers,
    async *chunks() {
      try {
        yield* chunks();
      } catch (error) {
        throw error instanceof HttpFailure ? error : toFailure(error);
      } finally {
        body.destroy();
      }
    },
    cancel: () => void body.destroy(),
  };
}
