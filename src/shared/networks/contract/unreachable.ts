import type { HttpFailure } from "../../runtime/http-call.ts";
import { MediaFailure, type MediaReason } from "./media.ts";
import { REDIRECTS_MAX, type RedirectProblem } from "./redirects.ts";

/** Why a file can't be downloaded. */
type Cause =
  | HttpFailure["reason"]
  | RedirectProblem
  | "status"
  | "coding"
  | "range"
  | "size_unknown"
  | "empty"
  | "changed"
  | "slow"
  | "busy";

interface Words {
  /** `{value}` is replaced by the value. */
  readonly message: string;
  readonly remediation: string;
}

const PUBLIC = "Check that the media URL is public and answers without a log-in, then retry.";
const RETRY = "Retry; use another server if it happens again.";
const UNCODED = "Configure the server to send the file without Content-Encoding.";

const words = (message: string, remediation: string): Words => ({ message, remediation });

const CAUSES: Readonly<Record<Cause, Words>> = {
  blocked_address: words(
    "The media URL doesn't lead to a public address.",
    "Check the host name in the media URL: it must exist and be public.",
  ),
  connect_failed: words(
    "The server of the media file can't be reached.",
    "Check the host name in the media URL.",
  ),
  tls_failed: words(
    "The server of the media file has no valid certificate.",
    "Fix the server's certificate, or use another server.",
  ),
  timeout: words("The server of the media file did not answer in time.", RETRY),
  slow: words("The server of the media file sends it too slowly.", RETRY),
  connection_lost: words("The server of the media file broke off the download.", RETRY),
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
  status: words("The server of the media file answers with HTTP {value}.", PUBLIC),
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
};

interface Details {
  readonly value?: string | number;
  readonly error?: unknown;
  readonly reason?: MediaReason;
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
    ...(error === undefined ? {} : { cause: error }),
    ...(reason === undefined ? {} : { reason }),
  });
}
