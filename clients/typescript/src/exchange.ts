import { isRelayError, RelayConnectionError, RelayError, type ErrorBody } from "./errors.ts";

/** What is read of an answer, as the last word of an operation's line says. */
export type Reading = "data" | "list" | "document" | "text" | "bytes" | "nothing";

/** Headers by their names as fields of a call. */
export const HEADERS: Readonly<Record<string, string>> = {
  idempotencyKey: "Idempotency-Key",
  profileId: "X-Profile-Id",
  applicationId: "X-Application-Id",
  profileGrant: "X-Profile-Grant",
};

export interface Exchange {
  readonly reading: Reading;
  /** Whether the request may be sent again when it is unknown what became of it. */
  readonly isRepeatable: boolean;
  readonly timeoutMs: number;
  readonly signal: AbortSignal | undefined;
  readonly idempotencyKey: string | undefined;
}

export const REPEATS_MAX = 3;
const FIRST_WAIT_MS = 500;
/** Longer than any answer of the relay: an export of 50,000 entries. */
const ANSWER_BYTES_MAX = 32 * 1024 * 1024;
/** The largest file that the relay takes. */
const FILE_BYTES_MAX = 1024 ** 3;
/** The longest time that a timer can have. */
const TIMER_MS_MAX = 2 ** 31 - 1;

/**
 * Sends a request until it has an answer that a repeat would not change, and returns what is read of the answer.
 * @throws RelayError for an answer that is an error
 * @throws RelayConnectionError when there is no answer of the relay, or none within the limit
 * @throws the reason of the signal, once that is aborted
 */
export async function exchange(request: Request, call: Exchange): Promise<unknown> {
  const { signal, idempotencyKey } = call;
  signal?.throwIfAborted();
  const timeoutMs = Math.min(call.timeoutMs, TIMER_MS_MAX);
  const deadline = performance.now() + timeoutMs;
  const abort = new AbortController();
  const timer = setTimeout(() => abort.abort(), timeoutMs);
  const forward = () => abort.abort();
  signal?.addEventListener("abort", forward);
  let failure: RelayError | RelayConnectionError | undefined;
  let mayBeDone = false;
  try {
    for (let repeats = 0; ; repeats += 1) {
      const outcome = await attempt(request.clone(), call, abort.signal);
      if (!("error" in outcome)) return outcome.value;
      signal?.throwIfAborted();
      if (abort.signal.aborted)
        throw new RelayConnectionError(`${nameOf(request)} has no answer after ${timeoutMs} ms.`, {
          idempotencyKey,
          cause: failure ?? outcome.error,
        });
      failure = outcome.error;
      if (mayBeDone && request.method === "DELETE" && isDone(failure)) return undefined;
      const waitMs = outcome.retryAfterMs ?? backoffMs(repeats);
      const isLast = repeats === REPEATS_MAX || performance.now() + waitMs >= deadline;
      if (isLast || !isWorthRepeating(failure, call.isRepeatable)) throw failure;
      mayBeDone ||= failure.status !== 429;
      await pause(waitMs, abort.signal);
    }
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener("abort", forward);
  }
}

type Outcome =
  | { readonly value: unknown }
  | {
      readonly error: RelayError | RelayConnectionError;
      readonly retryAfterMs?: number | undefined;
    };

/** Tells whether a repeated DELETE found its work done: nothing is there, or a post that is canceled. */
const isDone = (error: RelayError | RelayConnectionError) =>
  error instanceof RelayError &&
  (error.status === 404 ||
    (isRelayError(error, "invalid_state") && error.details.status === "canceled"));

function isWorthRepeating(
  { status = 500 }: RelayError | RelayConnectionError,
  isRepeatable: boolean,
): boolean {
  if (status === 429) return true;
  // An answer that is a success, but not the relay's, says nothing of what became of the request.
  return isRepeatable && (status >= 500 || status < 300);
}

const nameOf = ({ method, url }: Request) => `${method} ${url.split("?", 1)[0]}`;

async function attempt(request: Request, call: Exchange, signal: AbortSignal): Promise<Outcome> {
  const { idempotencyKey } = call;
  let status: number | undefined;
  try {
    const response = await fetch(request, { signal });
    status = response.status;
    const bytes = await readBytes(response, call.reading);
    const retryAfterMs = readRetryAfter(response);
    if (response.ok) return { value: readAnswer(bytes, call.reading) };
    if (status < 400) {
      const [address = ""] = (response.headers.get("location") ?? "another address").split("?", 1);
      throw new Error(`it redirects to ${address}. Change baseUrl to match`);
    }
    const error = new RelayError(status, readError(bytes), idempotencyKey);
    return { error, retryAfterMs };
  } catch (cause) {
    const what = status === undefined ? "no answer" : `a ${status} that isn't the relay's answer`;
    const reason = status === 404 ? "Does baseUrl end in /api?" : reasonOf(cause);
    const details = { idempotencyKey, status, cause };
    return {
      error: new RelayConnectionError(`${nameOf(request)} got ${what}: ${reason}`, details),
    };
  }
}

/** Returns what an error says. Node's says that the request failed, and its cause why. */
function reasonOf(error: unknown): string {
  const { message, cause } = error as {
    message?: string;
    cause?: { message?: string; code?: string };
  };
  const why = cause?.message || cause?.code;
  if (why) return `${message}: ${why}`;
  const hint = isBrowser() ? " Does the relay allow this page's origin?" : "";
  return `${message ?? String(error)}${hint}`;
}

async function readBytes({ body }: Response, reading: Reading): Promise<Uint8Array> {
  const bytesMax = reading === "bytes" ? FILE_BYTES_MAX : ANSWER_BYTES_MAX;
  const chunks: Uint8Array<ArrayBuffer>[] = [];
  let length = 0;
  const reader = body?.getReader();
  for (;;) {
    const { done = true, value } = (await reader?.read()) ?? {};
    if (value !== undefined) {
      length += value.length;
      chunks.push(value);
    }
    if (length > bytesMax) {
      // Nothing waits for the rest.
      void reader?.cancel().catch(() => undefined);
      throw new Error(`it is longer than ${bytesMax} bytes`);
    }
    if (done) break;
  }
  return new Uint8Array(await new Blob(chunks).arrayBuffer());
}

function readAnswer(bytes: Uint8Array, reading: Reading): unknown {
  if (reading === "bytes") return bytes;
  if (reading === "nothing") {
    if (bytes.length > 0) throw new Error("it should have no body");
    return undefined;
  }
  const text = new TextDecoder().decode(bytes);
  if (reading === "text") return text;
  const answer = parseObject(text);
  if (reading === "document") return answer;
  const { data, page } = answer;
  if (data === undefined || (reading === "list" && !(Array.isArray(data) && isObject(page))))
    throw new Error("it has no data");
  return reading === "list" ? answer : data;
}

function readError(bytes: Uint8Array): ErrorBody {
  const { error } = parseObject(new TextDecoder().decode(bytes));
  if (!isObject(error) || typeof error["code"] !== "string")
    throw new Error("it has no error code");
  // Safe: what has a code is an error of the relay.
  const body = {
    message: "",
    details: {},
    requestId: "",
    docUrl: "",
    ...error,
  } as unknown as ErrorBody;
  const message = Object.entries(HEADERS).reduce(
    (text, [field, header]) => text.replaceAll(`the ${header} header`, `\`${field}\``),
    body.message,
  );
  return { ...body, message };
}

function parseObject(text: string): Record<string, unknown> {
  const value: unknown = JSON.parse(text);
  if (!isObject(value)) throw new Error("it isn't an object");
  return value;
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** Reads the header in both of its forms: seconds and a date. */
function readRetryAfter({ headers }: Response): number | undefined {
  const text = headers.get("retry-after") ?? "";
  const ms = /^\d+$/.test(text) ? Number(text) * 1000 : Date.parse(text) - Date.now();
  return Number.isNaN(ms) ? undefined : Math.max(ms, 0);
}

/** Returns how long to wait before the next repeat: half a second, doubled by each, a quarter more or less. */
export const backoffMs = (repeats: number) =>
  FIRST_WAIT_MS * 2 ** repeats * (0.75 + Math.random() / 2);

/** Waits; ends early when the signal is aborted. */
export async function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  await new Promise<void>((resolve) => {
    const timer = setTimeout(end, ms);
    function end(): void {
      clearTimeout(timer);
      signal?.removeEventListener("abort", end);
      resolve();
    }
    if (signal?.aborted === true) end();
    else signal?.addEventListener("abort", end);
  });
}

/** Tells whether this is a page or a worker of a browser: all of them, and no server, have this name. */
export const isBrowser = () =>
  typeof navigator === "object" && navigator.userAgent?.startsWith("Mozilla/");
