import type { HttpFailure } from "../../runtime/http-call.ts";
import { fillText } from "../../runtime/locale.ts";
import { DEVELOPER_HINTS } from "./developer-hints.ts";
import { MediaFailure, type MediaReason } from "./media.ts";
import type { RedirectProblem } from "./redirects.ts";

/** Why a file can't be downloaded. Each cause has a rule of its own: `bluesky.media.serverError`. */
type Cause =
  | Exclude<HttpFailure["reason"], "blocked_address">
  | RedirectProblem
  | "address_host"
  | "address_length"
  | "address_scheme"
  | "address_credentials"
  | "address_port"
  | "status_forbidden"
  | "status_missing"
  | "status_throttled"
  | "status_server"
  | "status"
  | "coding"
  | "range"
  | "size_unknown"
  | "empty"
  | "changed"
  | "slow"
  | "busy"
  | "unchecked";

const CAUSES = [
  "address_host",
  "address_length",
  "address_scheme",
  "address_credentials",
  "address_port",
  "connect_failed",
  "tls_failed",
  "timeout",
  "slow",
  "connection_lost",
  "headers_too_large",
  "too_large",
  "undecodable",
  "coding",
  "too_many_redirects",
  "redirected_nowhere",
  "status_forbidden",
  "status_missing",
  "status_throttled",
  "status_server",
  "status",
  "range",
  "size_unknown",
  "empty",
  "changed",
  "busy",
  "unchecked",
] as const satisfies readonly Cause[];

interface Details {
  readonly value?: string | number;
  readonly error?: unknown;
  readonly reason?: MediaReason;
}

/** Returns what the rule of a cause is about: `statusForbidden`. */
const subjectOfCause = (cause: Cause) =>
  cause.replace(/_(\w)/g, (_all, letter: string) => letter.toUpperCase());

/** What can be wrong with a file that can't be downloaded, as the last part of its rule. */
export const UNREACHABLE: readonly string[] = CAUSES.map(subjectOfCause);

/** Codes of a look-up that found no address. */
const NO_ADDRESS: readonly unknown[] = ["ENOTFOUND", "EAI_AGAIN"];

/** Makes the failure of a file whose download failed without an answer. */
export function undelivered(failure: HttpFailure): MediaFailure {
  const { reason, refusal = "host", cause } = failure;
  if (reason === "blocked_address") return unreachable(`address_${refusal}`, { error: failure });
  const code = cause instanceof Error && "code" in cause ? cause.code : undefined;
  const isUnknownName = reason === "connect_failed" && NO_ADDRESS.includes(code);
  return unreachable(isUnknownName ? "address_host" : reason, { error: failure });
}

/** Makes the failure of a file whose server answers with another status than that of the file. */
export function badStatus(status: number): MediaFailure {
  const causes: readonly (readonly [isMeant: boolean, cause: Cause])[] = [
    [[401, 403, 407].includes(status), "status_forbidden"],
    [[404, 410].includes(status), "status_missing"],
    [status === 429, "status_throttled"],
    [status >= 500, "status_server"],
  ];
  const [, cause = "status"] = causes.find(([isMeant]) => isMeant) ?? [];
  return unreachable(cause, { value: status });
}

/** Makes the failure of a file that can't be downloaded. */
export function unreachable(cause: Cause, { value, error, reason }: Details = {}): MediaFailure {
  const subject = subjectOfCause(cause);
  const said = DEVELOPER_HINTS[`media.${subject}`] ?? cause;
  return new MediaFailure(
    "media_unreachable",
    fillText(said, { value: `${value}`.slice(0, 100) }),
    {
      subject,
      ...(value === undefined ? {} : { values: { value } }),
      ...(error === undefined ? {} : { cause: error }),
      ...(reason === undefined ? {} : { reason }),
    },
  );
}
