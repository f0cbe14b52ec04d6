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
  /** `{value}` is filled in. */
  readonly message: string;
  readonly remediation: string;
}

const PUBLIC = "Check that the media URL is public and answers without a log-in, then retry.";
const RETRY = "Retry; use another server if it happens again.";
const UNCODED = "Configure the server to send the file without Content-Encoding.";

const CAUSES: Readonly<Record<Cause, Words>> = {
  blocked_address: {
    message: "The media URL leads to an address that may not be fetched.",
    remediation: "Use an https URL on a public host.",
  },
  connect_failed: {
    message: "The server of the media file can't be reached.",
    remediation: "Check the host name in the media URL.",
  },
  tls_failed: {
    message: "The server of the media file has no valid certificate.",
    remediation: "Fix the server's certificate, or use another server.",
  },
  timeout: { message: "The server of the media file did not answer in time.", remediation: RETRY },
  slow: { message: "The server of the media file sends it too slowly.", remediation: RETRY },
  connection_lost: {
    message: "The server of the media file broke off the download.",
    remediation: RETRY,
  },
  too_large: { message: "The media file is too large to download.", remediation: PUBLIC },
  undecodable: {
    message: "The media file is not compressed the way that its Content-Encoding header says.",
    remediation: UNCODED,
  },
  coding: {
    message: 'The media file is sent with the unknown Content-Encoding "{value}".',
    remediation: UNCODED,
  },
  too_many_redirects: {
    message: `The media URL redirects more than ${REDIRECTS_MAX} times.`,
    remediation: "Use the address that the redirects lead to.",
  },
  redirected_nowhere: {
    message: "The media URL redirects without a valid Location header.",
    remediation: "Use the address of the file itself.",
  },
  status: {
    message: "The server of the media file answers with HTTP {value}.",
    remediation: PUBLIC,
  },
  range: {
    message: "The server of the media file answers with another part of it than was requested.",
    remediation: "Configure the server to answer range requests correctly, or not at all.",
  },
  size_unknown: {
    message: "The server of the media file states no size, and the file has more than {value} MiB.",
    remediation:
      "Configure the server to send Content-Length, or to answer range requests, without Content-Encoding.",
  },
  empty: { message: "The media file is empty.", remediation: "Upload the file again." },
  changed: {
    message: "The media file changed while it was read.",
    remediation: "Leave the file as it is until the post is published.",
  },
  busy: { message: "Too many media files are being read.", remediation: "Retry in some minutes." },
};

interface Details {
  /** What the message names. */
  readonly value?: string | number;
  readonly error?: unknown;
  readonly reason?: MediaReason;
}

/** Returns the failure of a file that can't be downloaded, in words for the caller. */
export function unreachable(
  cause: Cause,
  { value = "", error, reason }: Details = {},
): MediaFailure {
  const { message, remediation } = CAUSES[cause];
  const words = message.replace("{value}", () => String(value).slice(0, 100));
  return new MediaFailure("media_unreachable", words, {
    remediation,
    ...(error === undefined ? {} : { cause: error }),
    ...(reason === undefined ? {} : { reason }),
  });
}
