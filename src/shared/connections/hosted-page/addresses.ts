import type { Config } from "../../runtime/config.ts";
import type { NetworkName } from "../../networks/lookup.ts";

/** The hosted page of a session; who has this address may link accounts in it. */
export function pageAddress(
  config: Config,
  sessionId: string,
  token: string,
  more: Readonly<Record<string, string>> = {},
): string {
  const query = new URLSearchParams({ session: sessionId, token, ...more });
  return `${config.publicBaseUrl}/v1/connect/ui?${query.toString()}`;
}

/** Where the page's forms go to: a network's name, or `done`. */
export function stepAddress(config: Config, step: NetworkName | "done"): string {
  return `${config.publicBaseUrl}/v1/connect/ui/${step}`;
}

/** Registered with the networks, so constant and exact for each. */
export function callbackAddress(config: Config, network: string): string {
  return `${config.publicBaseUrl}/v1/connect/callback/${network}`;
}

/**
 * Some networks take no `localhost` to lead back to, only the number behind it, and the browser's cookie is not sent
 * there: the same address under our own name. Undefined when the browser is there already, as it always is with https.
 */
export function callbackAtHome(
  config: Config,
  host: string | null,
  callback: { readonly network: string; readonly params: Readonly<Record<string, string>> },
): string | undefined {
  const isLocal = config.publicBaseUrl.startsWith("http://localhost");
  if (!isLocal || !/^127\.0\.0\.1(?::\d+)?$/.test(host ?? "")) return undefined;
  const query = new URLSearchParams(callback.params).toString();
  return `${callbackAddress(config, callback.network)}?${query}`;
}
