import type { Texts } from "../contract/draft.ts";
import { byBrowser, readCode } from "../contract/oauth.ts";
import type { LinkErrorCode, LinkFailure } from "../contract/link.ts";
import type { NetworkApp } from "../contract/settings.ts";

/**
 * What Meta's pages say about the app: an address, a domain or a permission that is not registered for it, or its mode
 * (https://github.com/PostHog/posthog/pull/86748).
 */
const OF_APP = /\b(?:app|application|URL|domains?|scopes?|permissions?|redirect|developer)\b/i;

/** "User canceled the Dialog flow" (https://github.com/liberapay/liberapay.com/issues/110). */
const CANCELED = /\bcancell?ed\b/i;

function meaningOf(message: string): LinkErrorCode {
  if (CANCELED.test(message)) return "access_denied";
  return OF_APP.test(message) ? "service_refused" : "network_unavailable";
}

/** Returns the code of a callback, or why there is none. */
export function readCallback(params: Texts): string | LinkFailure {
  const { error_code: errorCode, error_message: message, code = "" } = params;
  if (params["error"] === undefined && errorCode !== undefined)
    return byBrowser(meaningOf(message ?? ""), `${errorCode} ${message ?? ""}`);
  // Meta appends `#_` or `#_=_` to everything that it sends back.
  return readCode({ ...params, code: code.replace(/#_(?:=_)?$/, "") });
}

/** Returns the additional permissions that the app requested but did not get. */
export function lackedExtras(
  granted: readonly string[],
  app: NetworkApp | undefined,
): readonly string[] {
  return (app?.extraScopes ?? []).filter((name) => !granted.includes(name));
}
