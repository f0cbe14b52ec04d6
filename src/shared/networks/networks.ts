import * as z from "zod";
import { shape } from "../runtime/shape.ts";
import type { Network } from "./contract/network.ts";
import type { NetworkApps } from "./contract/settings.ts";
import { type Feature, FEATURES } from "./features.ts";
import { NETWORK_NAMES } from "./names.ts";
import { NETWORKS } from "./registry.ts";

export type NetworkName = keyof typeof NETWORKS;

export type RegisteredNetwork = Network & { readonly name: NetworkName };

export function networkOf(name: NetworkName): RegisteredNetwork {
  return NETWORKS[name];
}

/** Returns the network if this deployment can use it, or undefined if it needs an app and the settings have none. */
export function findAvailable(name: NetworkName, apps: NetworkApps): RegisteredNetwork | undefined {
  const network = networkOf(name);
  return network.needsApp === true && apps[name] === undefined ? undefined : network;
}

/** Returns the features for which an authorization with these scopes lacks a permission. Pure. */
export function unavailableFeatures(
  name: NetworkName,
  scopes: readonly string[],
): readonly Feature[] {
  const { calls } = networkOf(name);
  return (["comment", "remove"] as const)
    .filter((kind) => (calls[kind]?.missingScopes?.(scopes) ?? []).length > 0)
    .map((kind) => FEATURES[kind]);
}

/**
 * Returns why an authorization with these scopes can't make a call that follows a post, or undefined if it can:
 * `permission_missing` if linking again asks for what it lacks, else `feature_unsupported`. Pure.
 */
export function lackOf(
  name: NetworkName,
  call: keyof typeof FEATURES,
  scopes: readonly string[],
  apps: NetworkApps,
): "permission_missing" | "feature_unsupported" | undefined {
  const network = networkOf(name);
  const lacked = network.calls[call]?.missingScopes?.(scopes) ?? [];
  if (lacked.length === 0) return undefined;
  const askedFor = network.missingScopes?.(scopes, apps[name]) ?? [];
  return lacked.some((scope) => askedFor.includes(scope))
    ? "permission_missing"
    : "feature_unsupported";
}

/** `platformOptions`: each network's own. */
export const platformOptionsSchema = shape(() => {
  const options = NETWORK_NAMES.map(
    (name) => [name, networkOf(name).options().optional()] as const,
  );
  return z.strictObject(
    // Safe: the keys are exactly the networks' names.
    Object.fromEntries(options) as Record<
      NetworkName,
      z.ZodOptional<ReturnType<Network["options"]>>
    >,
  );
});
