import type { HttpResponse, HttpFailure } from "../../runtime/http-call.ts";
import { type Classified, exchange, oauthError } from "./answers.ts";
import type { LegErrorCode } from "./errors.ts";
import { scopesLacked } from "./fields.ts";
import { type LinkErrorCode, type LinkFailure, linkFailed } from "./link.ts";
import { type CredentialsOutcome, unpublished } from "./outcome.ts";
import type { NetworkTools } from "./tools.ts";

// The parts of OAuth's code flow that are the same at every network (RFC 6749).

type CallbackErrors = Readonly<Record<string, LinkErrorCode>>;

/** What comes back with the browser in place of a code; all but a refusal is about our app and not about the person. */
const CALLBACK_ERRORS: CallbackErrors = {
  access_denied: "access_denied",
  invalid_client: "network_unavailable",
  invalid_request: "network_unavailable",
  invalid_scope: "network_unavailable",
  server_error: "network_unavailable",
  temporarily_unavailable: "network_unavailable",
  unauthorized_client: "network_unavailable",
};

/** Returns the code of a callback, or why there is none. `own` has the network's own errors. */
export function readCode(
  { error, code = "" }: Readonly<Record<string, string>>,
  own: CallbackErrors = {},
): string | LinkFailure {
  if (error !== undefined)
    return linkFailed(own[error] ?? CALLBACK_ERRORS[error] ?? "access_denied", error);
  return code === "" ? linkFailed("input_invalid", "no code came back") : code;
}

const CODES: Partial<Record<LegErrorCode, LinkErrorCode>> = {
  account_restricted: "account_restricted",
  permission_missing: "permission_missing",
  rate_limited: "rate_limited",
  quota_exceeded: "rate_limited",
  // A fresh token or code that is refused was used up or taken back on the way.
  connection_needs_reauth: "access_denied",
};

/** Returns the failure for a step of linking that the network refused. */
export function refusedLink({ code, networkCode, note }: Classified): LinkFailure {
  return linkFailed(CODES[code] ?? "network_unavailable", `${networkCode ?? ""} ${note}`.trim());
}

/** Returns a failure if a needed scope was not granted: on some pages a person may decline them one by one. */
export function lacking(
  needed: readonly string[],
  granted: readonly string[],
): LinkFailure | undefined {
  const missing = scopesLacked(needed, granted);
  return missing.length > 0 ? linkFailed("permission_missing", missing.join(" ")) : undefined;
}

/** Posts a form to an authorisation server. */
export function postForm(
  url: string,
  fields: Readonly<Record<string, string>>,
  tools: NetworkTools,
): Promise<HttpResponse | HttpFailure> {
  return exchange(tools, {
    method: "POST",
    url,
    headers: {
      accept: "application/json",
      "accept-language": "en",
      "content-type": "application/x-www-form-urlencoded",
    },
    body: new URLSearchParams(fields).toString(),
  });
}

/** What is wrong with our app, and not with a code or token. */
export const CLIENT_ERRORS: readonly string[] = ["invalid_client", "unauthorized_client"];

/** Returns what a refused renewal means (RFC 6749, section 5.2): the refresh token is of no use, or our app is refused. */
export function refusedRenewal(answer: HttpResponse, classified: Classified): CredentialsOutcome {
  const error = oauthError(answer);
  if (error !== undefined && CLIENT_ERRORS.includes(error))
    return renewalRejected("app_misconfigured", error);
  if (error !== undefined && answer.status === 400)
    return renewalRejected("connection_needs_reauth", error);
  return unpublished(classified);
}

export function renewalRejected(
  code: "connection_needs_reauth" | "permission_missing" | "app_misconfigured",
  networkCode: string | null,
  note?: string,
): CredentialsOutcome {
  const failure = { code, networkCode, ...(note === undefined ? {} : { note }) };
  return { kind: "rejected", failure };
}
