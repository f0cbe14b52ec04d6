import type { Texts } from "../contract/draft.ts";
import { readCode } from "../contract/oauth.ts";
import { type LinkFailure, linkFailed } from "../contract/link.ts";
import type { NetworkApp } from "../contract/settings.ts";

/** Returns the code of a callback, or why there is none. */
export function readCallback(params: Texts): string | LinkFailure {
  const { error_code: errorCode, error_message: message, code = "" } = params;
  if (params["error"] === undefined && errorCode !== undefined)
    return linkFailed("network_unavailable", `${errorCode} ${message ?? ""}`);
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
