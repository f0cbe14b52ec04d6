import { NETWORK_NAMES, networkOf, type NetworkName } from "./lookup.ts";
import type { NetworkSettings } from "./contract/network.ts";

/**
 * What each network is configured by, in the order of the registry. The build puts a module in its place that imports
 * the `settings.ts` of each network's folder and nothing else: a start needs no more of a network.
 */
// Safe: the keys are exactly the networks' names.
export const SETTINGS_BY_NETWORK = Object.fromEntries(
  NETWORK_NAMES.map((name) => [name, networkOf(name).settings]),
) as Readonly<Record<NetworkName, NetworkSettings | undefined>>;
