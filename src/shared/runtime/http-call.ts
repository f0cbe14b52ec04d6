/** A body that is made while it is sent. Its exact length is known before: some servers take no chunked body. */
export interface StreamedBody {
  readonly size: number;
  /** Returns the bytes from the beginning, each time it is called. */
  chunks(): AsyncIterable<Uint8Array>;
}

/**
 * The owner of calls to hosts that the settings or the code name. Only these calls use the system's resolver, which knows
 * private names, and no limit holds for them.
 */
export const OWN_HOSTS = "own hosts";

export interface HttpRequest {
  readonly method: "GET" | "HEAD" | "POST" | "PUT" | "DELETE";
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array | FormData | StreamedBody;
  /** Total time for the whole call; the network timeout of the settings when absent. */
  readonly timeoutMs?: number;
  /** Longest answer that is read; 1 MiB when absent. */
  readonly bytesMax?: number;
  /** What becomes of a longer one: the call fails, or the rest is left unread where only the status matters. */
  readonly beyondMax?: "fail" | "cut";
  /**
   * Whose limits the call uses: a platform's id, the name of a group of strangers, or `OWN_HOSTS`. All calls without an
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
  /** Returns the body as `parseAnswer` reads it; undefined when it is not JSON (an HTML error page, nothing at all). */
  json(): unknown;
}

/**
 * The call did not come back with an answer. `not_sent`: the network certainly did not get it. `in_doubt`: it may have.
 * Thrown by `NetworkTools.http`; a network turns it into an outcome.
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
    | "undecodable";

  constructor(
    delivery: HttpFailure["delivery"],
    reason: HttpFailure["reason"],
    options?: { cause?: unknown },
  ) {
    super(`${reason} (${delivery})`, options);
    this.name = "HttpFailure";
    this.delivery = delivery;
    this.reason = reason;
  }
}

/** Of so many digits a number may be one that JavaScript can't hold: those are worth a look at each value. */
const MANY_DIGITS = /\d{16}/;

/** Returns a whole number as the text that it is written with, where its value would be another one. */
function exact(_name: string, value: unknown, { source = "" }: { readonly source?: string }) {
  const isOther =
    typeof value === "number" && Number.isInteger(value) && !Number.isSafeInteger(value);
  return isOther && /^-?\d{1,100}$/.test(source) ? source : value;
}

/**
 * Returns the JSON that another service sent; undefined where it sent none. An id that is a number of 18 digits comes as
 * text, because the nearest number that JavaScript has would be somebody else's.
 */
export function parseAnswer(text: string): unknown {
  try {
    // Safe: the library's types do not know yet that a reviver is told the text of its value (ECMAScript 2026).
    return JSON.parse(
      text,
      MANY_DIGITS.test(text) ? (exact as (name: string) => unknown) : undefined,
    );
  } catch {
    return undefined;
  }
}
