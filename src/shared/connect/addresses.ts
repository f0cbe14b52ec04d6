import type { Config } from "../config.ts";
import type { NetworkName } from "../networks/network.ts";

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
export function callbackAddress(config: Config, network: NetworkName): string {
  return `${config.publicBaseUrl}/v1/connect/callback/${network}`;
}
