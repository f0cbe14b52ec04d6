import * as z from "zod";
import { bluesky } from "./bluesky/index.ts";
import { facebook } from "./facebook/index.ts";
import { instagram } from "./instagram/index.ts";
import { linkedin } from "./linkedin/index.ts";
import { mastodon } from "./mastodon/index.ts";
import type { Network, NetworkApps, NetworkName } from "./network.ts";
import { NETWORK_NAMES } from "./network.ts";
import { networkOptions } from "./options.ts";

/** Everything else that knows the networks derives from this: accepted options, the connect page, contract tests. */
export const NETWORKS = {
  facebook,
  instagram,
  linkedin,
  bluesky,
  mastodon,
} as const satisfies Partial<Record<NetworkName, Network>>;

const networks: Partial<Record<NetworkName, Network>> = NETWORKS;

/** Undefined for a network whose adapter is not part of this build. */
export function findNetwork(name: NetworkName): Network | undefined {
  return networks[name];
}

/** The network when this deployment can work with it: one that needs an app must have it in the settings. */
export function findAvailable(name: NetworkName, apps: NetworkApps): Network | undefined {
  const network = findNetwork(name);
  return network?.needsApp === true && apps[name] === undefined ? undefined : network;
}

/** `platformOptions`: a network without an adapter takes what all networks share. */
export const platformOptionsSchema = z.strictObject(
  Object.fromEntries(
    NETWORK_NAMES.map((name) => [
      name,
      (findNetwork(name)?.options ?? networkOptions({})).optional(),
    ]),
  ) as Record<NetworkName, z.ZodOptional<Network["options"]>>,
);
