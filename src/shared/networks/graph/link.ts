import type * as z from "zod";
import { type Classified, exchange } from "../contract/answers.ts";
import type { LegErrorCode } from "../contract/errors.ts";
import { type HttpRequest, type HttpResponse, HttpFailure } from "../../runtime/http-call.ts";
import {
  type LinkErrorCode,
  type LinkFailure,
  type OAuthFlow,
  linkFailed,
} from "../contract/link.ts";
import type { NetworkApp } from "../contract/settings.ts";
import type { NetworkTools } from "../contract/tools.ts";

/** What the dialog sends back with the browser in place of a code. */
const CALLBACK_ERRORS: Readonly<Record<string, LinkErrorCode>> = {
  access_denied: "access_denied",
  server_error: "network_unavailable",
  temporarily_unavailable: "network_unavailable",
  // Of the app and not of the person in front of it.
  invalid_scope: "network_unavailable",
  invalid_request: "network_unavailable",
  unauthorized_client: "network_unavailable",
};

/** Returns the code of a callback, or why there is none. */
export function readCallback(params: Readonly<Record<string, string>>): string | LinkFailure {
  const { error, error_code: errorCode, error_message: message, code = "" } = params;
  if (error !== undefined) return linkFailed(CALLBACK_ERRORS[error] ?? "access_denied", error);
  if (errorCode !== undefined)
    return linkFailed("network_unavailable", `${errorCode} ${message ?? ""}`);
  // Meta puts `#_` or `#_=_` behind everything that it sends back.
  const plain = code.replace(/#_(?:=_)?$/, "");
  return plain === "" ? linkFailed("input_invalid", "no code came back") : plain;
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

/** Returns the redirect to the dialog. Nothing has to be kept for the callback. */
export function redirect(
  dialog: string,
  query: Readonly<Record<string, string>>,
): ReturnType<OAuthFlow["start"]> {
  const url = `${dialog}?${new URLSearchParams(query).toString()}`;
  return Promise.resolve({ kind: "redirect", url, flow: {} });
}

/**
 * Returns a failure if a needed permission was not granted: in the dialog a person may decline permissions one by one.
 */
export function lacking(
  needed: readonly string[],
  granted: readonly string[],
): LinkFailure | undefined {
  const missing = needed.filter((name) => !granted.includes(name));
  return missing.length > 0 ? linkFailed("permission_missing", missing.join(" ")) : undefined;
}

/** Returns the permissions that the app asks for besides and that were not granted. */
export function lackedExtras(
  granted: readonly string[],
  app: NetworkApp | undefined,
): readonly string[] {
  return (app?.extraScopes ?? []).filter((name) => !granted.includes(name));
}

interface Step<Shape extends z.ZodType> {
  readonly request: HttpRequest;
  readonly shape: Shape;
  readonly refuse: (answer: HttpResponse) => LinkFailure;
}

/** Makes one call of linking and reads its answer by its shape. */
export async function readStep<Shape extends z.ZodType>(
  { request, shape, refuse }: Step<Shape>,
  tools: NetworkTools,
): Promise<z.infer<Shape> | LinkFailure> {
  const answer = await exchange(tools, request);
  if (answer instanceof HttpFailure) return linkFailed("network_unavailable", answer.message);
  const parsed = shape.safeParse(answer.json());
  return answer.status === 200 && parsed.success ? parsed.data : refuse(answer);
}
