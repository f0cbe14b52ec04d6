import type { NetworkName } from "./lookup.ts";
import { SETTINGS_BY_NETWORK } from "./settings-by-network.ts";

/** In the order of the registry. Loads no network in the built app, so that stores and schemas need none. */
// Safe: these are all keys of the registry.
export const NETWORK_NAMES = Object.keys(SETTINGS_BY_NETWORK) as readonly NetworkName[];
