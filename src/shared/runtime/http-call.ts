import { isNestedTooDeep } from "./json-depth.ts";
/** A body that is generated while it is sent. Its length is known, because some servers accept no chunked body. */
export interface StreamedBody {
  readonly size: number;
  /** Returns the bytes from the beginning, on each call. */
  chunks(): AsyncIterable<Uint8Array>;
}

/**
 * The owner of calls to hosts that the settings or the code name. Only these calls use the system's resolver, which
 * knows private names, and they have no limit.
 */
export const OWN_HOSTS = "own hosts";

export interface HttpRequest {
  readonly method: "GET" | "HEAD" | "POST" | "PUT" | "DELETE";
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array | StreamedBody;
  /** Time limit of the whole call. The default is the network timeout of the settings. */
  readonly timeoutMs?: number;
  /** Maximum size of the answer. The default is 1 MiB. */
  readonly bytesMax?: number;
  /** What happens beyond `bytesMax`: the call fails, or the rest is left unread because only the status matters. */
  readonly beyondMax?: "fail" | "cut";
  /**
   * Whose limits the call uses: a platform's id, the name of a group of callers, or `OWN_HOSTS`. All calls without an
   * owner share one group.
   */
  readonly owner?: string;
}

export interface HttpResponse {
  readonly status: number;
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
  text(): string;
  /** Parses the body with `parseAnswer`. The result is undefined when it isn't JSON, such as an error page. */
  json(): unknown;
}

/** At least 8,000 octets are recommended (RFC 9110, 4.1). Signed addresses have several thousand. */
export const URL_LENGTH_MAX = 8_192;

/** Why a URL that a caller chose is not dialled. `host` is one that isn't public. */
export type UrlRefusal = "length" | "scheme" | "credentials" | "port" | "host";

/**
 * The call got no answer. `not_sent`: the network certainly did not receive it. `in_doubt`: it may have.
 * `NetworkTools.http` throws this, and a network turns it into an outcome.
 */
export class HttpFailure extends Error {
  readonly delivery: "not_sent" | "in_doubt";
  readonly reason:
    | "blocked_address"
    | "timeout"
    | "connect_failed"
    | "tls_failed"
    | "connection_lost"
    | "too_large"
    | "headers_too_large"
    | "undecodable";
  /** What would have to change in the address of a call that was not allowed, if its text shows that. */
  readonly refusal: UrlRefusal | undefined;

  constructor(
    delivery: HttpFailure["delivery"],
    reason: HttpFailure["reason"],
    options?: { cause?: unknown; refusal?: UrlRefusal },
  ) {
    super(`${reason} (${delivery})`, options);
    this.name = "HttpFailure";
    this.delivery = delivery;
    this.reason = reason;
    this.refusal = options?.refusal;
  }
}

/** A number with this many digits may be one that JavaScript can't represent. Only then is each value checked. */
const MANY_DIGITS = /\d{16}/;

/**
 * Parses JSON that another service sent. The result is undefined when it isn't JSON, or nested too deep. An id that is an 18-digit number
 * is returned as text, because the nearest number in JavaScript would be another id.
 */
export function parseAnswer(text: string): unknown {
  if (isNestedTooDeep(text)) return undefined;
  const exact = (_name: string, value: unknown, { source = "" }: { readonly source?: string }) => {
    const isOther =
      typeof value === "number" && Number.isInteger(value) && !Number.isSafeInteger(value);
    return isOther && /^-?\d{1,100}$/.test(source) ? source : value;
  };
  try {
    // Safe: the library's types don't know yet that a reviver gets the source text of its value (ECMAScript 2026).
    return JSON.parse(
      text,
      MANY_DIGITS.test(text) ? (exact as (name: string) => unknown) : undefined,
    );
  } catch {
    return undefined;
  }
}
