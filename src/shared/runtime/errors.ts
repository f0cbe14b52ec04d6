import type { ErrorCode } from "./error-catalog.ts";

export type { ErrorCode } from "./error-catalog.ts";

/**
 * The check that refused a credential, with what it expected and found. It is never part of the answer, where it would
 * help to guess credentials. The request's log line has it, because only the operators can fix the cause.
 */
export interface FailedCheck {
  readonly check: string;
  readonly expected?: string | undefined;
  readonly found?: string | undefined;
  /** Claims of a token whose signature was not verified. */
  readonly unverified?: Readonly<Record<string, string>>;
}

const FOUND_CHARACTERS_MAX = 200;

/** Shortens a caller's value for a log line. */
export function boundedText(value: unknown): string {
  if (value === undefined) return "(absent)";
  const text = typeof value === "string" ? value : JSON.stringify(value);
  return text.length > FOUND_CHARACTERS_MAX
    ? `${text.slice(0, FOUND_CHARACTERS_MAX).toWellFormed()}…`
    : text.toWellFormed();
}

export interface AppErrorOptions {
  readonly details?: Readonly<Record<string, unknown>>;
  readonly failedCheck?: FailedCheck | undefined;
  readonly cause?: unknown;
  readonly retryAfterSeconds?: number;
  /** Whether a limit of load refused the request. It was logged and counted there, and is no error of the service. */
  readonly isOverload?: boolean;
}

/** An error that the caller can act on. Anything else that is thrown is a bug and answers 500 with a fixed text. */
export class AppError extends Error {
  readonly code: ErrorCode;
  readonly details: Readonly<Record<string, unknown>>;
  readonly retryAfterSeconds: number | undefined;
  readonly failedCheck: FailedCheck | undefined;
  readonly isOverload: boolean;

  constructor(code: ErrorCode, message: string, options: AppErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = "AppError";
    this.code = code;
    this.details = options.details ?? {};
    this.retryAfterSeconds = options.retryAfterSeconds;
    this.failedCheck = options.failedCheck;
    this.isOverload = options.isOverload === true;
  }
}

/**
 * Makes the one error for an absent resource and another tenant's, so that callers can't tell them apart. `source` is the
 * part of the request that names it. Without one, the answer names the parameters of the path.
 */
export function notFound(source?: string): AppError {
  const named = source === undefined ? "" : `: check ${source}`;
  return new AppError("not_found", `There is no such resource${named}.`);
}

/** Makes the error for a thing of which there are as many as allowed. */
export function limitReached(message: string): AppError {
  return new AppError("limit_reached", message);
}

/** Makes the error for an unknown outcome or unreachable storage. Repeating the same request is safe. */
export function serviceUnavailable(cause?: unknown): AppError {
  return new AppError("service_unavailable", "The service can't answer right now. Try again.", {
    cause,
    retryAfterSeconds: 1,
  });
}

export interface Issue {
  /** Path of the field. `body` stands for the whole body. */
  readonly path: string;
  readonly code: string;
  /** What is wrong and what is wanted. It follows the field's name in a sentence: "must be an https URL". */
  readonly message: string;
}

const NAME_CHARACTERS_MAX = 100;

function sentence({ path, message }: Issue): string {
  const name =
    path.length > NAME_CHARACTERS_MAX
      ? `${path.slice(0, NAME_CHARACTERS_MAX).toWellFormed()}…`
      : path;
  return `${path === "body" ? "The body" : `"${name}"`} ${message}.`;
}

/** Makes one error from all problems of a request. Each has the path of its field and a sentence about it. */
export function validationFailed(found: readonly Issue[], failedCheck?: FailedCheck): AppError {
  const issues = found.map((issue) => ({ ...issue, message: sentence(issue) }));
  const more = issues.length - 1;
  const rest = more > 0 ? ` \`details.issues\` has ${more} more.` : "";
  const message = `${issues[0]?.message ?? "The request is invalid."}${rest}`;
  return new AppError("validation_failed", message, { details: { issues }, failedCheck });
}

/** Maximum number of issues that are reported, since a body can have thousands of wrong fields. */
const ISSUES_MAX = 100;

/** Refuses a request if there are issues. @throws AppError `validation_failed` */
export function refuseIssues(issues: readonly Issue[]): void {
  if (issues.length > 0) throw validationFailed(issues.slice(0, ISSUES_MAX));
}

/** Asserts a rule of the program itself. @throws Error, which callers see as a 500 */
export function invariant(condition: boolean, message: string): asserts condition {
  if (!condition) throw new Error(`invariant broken: ${message}`);
}
