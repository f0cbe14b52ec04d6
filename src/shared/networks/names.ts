import type { Network } from "./contract/network.ts";
import type { NetworkSettings } from "./contract/settings.ts";
import { NETWORKS } from "./registry.ts";

/*
 * In the built app this loads no network: the build replaces it with a module that imports only the networks' settings.
 * `docs/dev/start-up.md` says why.
 */

type NetworkKey = keyof typeof NETWORKS;

const networks: Readonly<Record<NetworkKey, Network>> = NETWORKS;

/** The names of all networks, in the order of the registry. */
// Safe: these are all keys of the registry.
export const NETWORK_NAMES = Object.keys(networks) as readonly NetworkKey[];

/** Each network's settings, in the order of the registry. Undefined for a network without settings. */
// Safe: the keys are exactly the networks' names.
export const SETTINGS_BY_NETWORK = Object.fromEntries(
  NETWORK_NAMES.map((name) => [name, networks[name].settings]),
) as Readonly<Record<NetworkKey, NetworkSettings | undefined>>;
