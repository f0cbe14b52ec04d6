import type { ErrorDetails, Post } from "./types.ts";

export type ErrorCode = keyof ErrorDetails;

/** What an answer says about an error. */
export interface ErrorBody {
  readonly code: ErrorCode;
  readonly message: string;
  readonly details: unknown;
  readonly requestId: string;
  readonly docUrl: string;
}

/** An error that the relay answered with. `isRelayError` narrows its details by its code. */
export class RelayError<Code extends ErrorCode = ErrorCode> extends Error {
  /** @internal Loggers show the name of the class, which is minified. */
  static override readonly name = "RelayError";
  override readonly name = "RelayError";
  readonly status: number;
  /** Later versions of the relay may have codes that this version of the client doesn't know. */
  readonly code: Code;
  readonly details: ErrorDetails[Code];
  readonly requestId: string;
  readonly docUrl: string;
  /** The key of the attempts. The same call with this key publishes at most once. */
  readonly idempotencyKey: string | undefined;

  constructor(status: number, body: ErrorBody, idempotencyKey?: string) {
    // What answers in front of the relay, such as its host, has no request id.
    const request = body.requestId === "" ? "" : ` (${body.requestId})`;
    super(`${body.code}: ${body.message}${request}`);
    this.status = status;
    // Safe: a code always comes with its own details.
    this.code = body.code as Code;
    this.details = body.details as ErrorDetails[Code];
    this.requestId = body.requestId;
    this.docUrl = body.docUrl;
    this.idempotencyKey = idempotencyKey;
  }
}

type AnyRelayError = { [Code in ErrorCode]: RelayError<Code> }[ErrorCode];

/** Tells whether a value is an error of the relay, of a given code if one is named. */
export function isRelayError(value: unknown): value is AnyRelayError;
export function isRelayError<Code extends ErrorCode>(
  value: unknown,
  code: Code,
): value is RelayError<Code>;
export function isRelayError(value: unknown, code?: ErrorCode): boolean {
  return value instanceof RelayError && (code === undefined || value.code === code);
}

/** There is no answer of the relay: none came in time, or what came was cut off or isn't the relay's. */
export class RelayConnectionError extends Error {
  /** @internal */
  static override readonly name = "RelayConnectionError";
  override readonly name = "RelayConnectionError";
  /** The status of what came instead of the relay's answer. */
  readonly status: number | undefined;
  /** The key of the attempts. The same call with this key publishes at most once. */
  readonly idempotencyKey: string | undefined;

  constructor(
    message: string,
    {
      status,
      idempotencyKey,
      cause,
    }: { status?: number | undefined; idempotencyKey?: string | undefined; cause?: unknown },
  ) {
    super(message, { cause });
    this.status = status;
    this.idempotencyKey = idempotencyKey;
  }
}

/** The post has not ended within the limit. It goes on. */
export class RelayTimeoutError extends Error {
  /** @internal */
  static override readonly name = "RelayTimeoutError";
  override readonly name = "RelayTimeoutError";
  /** The post as it was read last; undefined if it never could be read. */
  readonly post: Post | undefined;

  constructor(message: string, post: Post | undefined, cause?: unknown) {
    super(message, { cause });
    this.post = post;
  }
}

/** A request that isn't a webhook of the relay. Answer it with 401. */
export class RelayWebhookError extends Error {
  /** @internal */
  static override readonly name = "RelayWebhookError";
  override readonly name = "RelayWebhookError";
}
