import { type HttpFailure, URL_LENGTH_MAX } from "../../runtime/http-call.ts";
import { MediaFailure, type MediaReason } from "./media.ts";
import { REDIRECTS_MAX, type RedirectProblem } from "./redirects.ts";

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

interface ReasonWords {
  /** `{value}` is replaced by the value. */
  readonly message: string;
  readonly remediation: string;
}

const PUBLIC = "Check that the media URL is public and answers without a log-in, then retry.";
const RETRY = "Retry; use another server if it happens again.";
const UNCODED = "Configure the server to send the file without Content-Encoding.";

const words = (message: string, remediation: string): ReasonWords => ({ message, remediation });

const CAUSES: Readonly<Record<Cause, ReasonWords>> = {
  // One cause for both: otherwise a caller could find out which private names exist.
  address_host: words(
    "The media URL doesn't lead to a public address.",
    "Check the host name in the media URL: it must exist and be public.",
  ),
  address_length: words(
    `The media URL, or an address that it redirects to, has more than ${URL_LENGTH_MAX} characters.`,
    "Use a shorter address.",
  ),
  address_scheme: words(
    "The media URL redirects to an address that is no https URL.",
    "Use an address that stays on https.",
  ),
  address_credentials: words(
    "The media URL redirects to an address with a user name or a password.",
    "Use an address without them: the file has to be public.",
  ),
  address_port: words(
    "The media URL leads to a port that may not be used.",
    "Use port 443, or one from 1024 on that browsers allow.",
  ),
  connect_failed: words(
    "The server of the media file can't be reached.",
    "Check that the server is running and can be reached from the internet, then retry.",
  ),
  tls_failed: words(
    "The server of the media file has no valid certificate.",
    "Fix the server's certificate, or use another server.",
  ),
  timeout: words("The server of the media file did not answer in time.", RETRY),
  slow: words("The server of the media file sends it too slowly.", RETRY),
  connection_lost: words("The server of the media file broke off the download.", RETRY),
  headers_too_large: words(
    "The server of the media file sends more headers than can be read.",
    "Configure the server to send fewer or shorter headers, or use another server.",
  ),
  too_large: words("The media file is too large to download.", PUBLIC),
  undecodable: words(
    "The media file is not compressed the way that its Content-Encoding header says.",
    UNCODED,
  ),
  coding: words('The media file is sent with the unknown Content-Encoding "{value}".', UNCODED),
  too_many_redirects: words(
    `The media URL redirects more than ${REDIRECTS_MAX} times.`,
    "Use the address that the redirects lead to.",
  ),
  redirected_nowhere: words(
    "The media URL redirects without a valid Location header.",
    "Use the address of the file itself.",
  ),
  status_forbidden: words("The server of the media file answers with HTTP {value}.", PUBLIC),
  status_missing: words(
    "The server of the media file answers with HTTP {value}: it has no file at this address.",
    "Check the address, and upload the file again if it was removed.",
  ),
  status_throttled: words(
    "The server of the media file answers with HTTP {value}: it limits how often files are fetched.",
    "Retry later, or use a server without this limit.",
  ),
  status_server: words(
    "The server of the media file answers with HTTP {value}, which is a fault of that server.",
    RETRY,
  ),
  status: words(
    "The server of the media file answers with HTTP {value}.",
    "Use an address that answers with the file itself.",
  ),
  range: words(
    "The server of the media file answers with another part of it than was requested.",
    "Configure the server to answer range requests correctly, or not at all.",
  ),
  size_unknown: words(
    "The server of the media file states no size, and the file has more than {value} MiB.",
    "Configure the server to send Content-Length, or to answer range requests, without Content-Encoding.",
  ),
  empty: words("The media file is empty.", "Upload the file again."),
  changed: words(
    "The media file changed while it was read.",
    "Leave the file as it is until the post is published.",
  ),
  busy: words("Too many media files are being read.", "Retry in a few minutes."),
  unchecked: words(
    "The media file was not checked, because checking the others took too long.",
    "Validate with fewer files, or use faster servers.",
  ),
};

interface Details {
  readonly value?: string | number;
  readonly error?: unknown;
  readonly reason?: MediaReason;
}

/** Returns what the rule of a cause is about: `statusForbidden`. */
const subjectOfCause = (cause: Cause) =>
  cause.replace(/_(\w)/g, (_all, letter: string) => letter.toUpperCase());

/** What can be wrong with a file that can't be downloaded, by the last part of its rule. */
export const UNREACHABLE: Readonly<Record<string, ReasonWords>> = Object.fromEntries(
  // Safe: the record has every cause as its key and nothing else.
  Object.entries(CAUSES).map(([cause, said]) => [subjectOfCause(cause as Cause), said]),
);

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

/** Makes the failure of a file that can't be downloaded, in words for the caller. */
export function unreachable(
  cause: Cause,
  { value = "", error, reason }: Details = {},
): MediaFailure {
  const { message, remediation } = CAUSES[cause];
  const said = message.replace("{value}", () => String(value).slice(0, 100));
  return new MediaFailure("media_unreachable", said, {
    remediation,
    subject: subjectOfCause(cause),
    ...(error === undefined ? {} : { cause: error }),
    ...(reason === undefined ? {} : { reason }),
  });
}
