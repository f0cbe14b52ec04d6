import { isId, timeOfId } from "../runtime/ids.ts";
import { ago } from "../runtime/process.ts";
import { undefinedIfDamaged } from "../runtime/storage/damaged-row.ts";
import type { TenantsDeps } from "./deps.ts";

/** Longer than a request takes that writes a pointer before its target. */
export const POINTERS_YOUNG_MS = 24 * 60 * 60 * 1000;

/** Removes a page of the pointers to missing keys, which a crash leaves behind. */
export function purgeKeyPointers(deps: TenantsDeps, after: string | undefined) {
  return deps.stores.keys.removeStray(ago(deps.clock, POINTERS_YOUNG_MS), after);
}

export function listPlatformIds({ stores }: TenantsDeps, after: string | undefined, limit: number) {
  return stores.platforms.listIds(after, limit);
}

/**
 * Checks a platform of the list of all. Requests get an error for one whose row is damaged; a walk counts it and
 * continues. One without any row is removed from the lists after a day, because the process that made it has died.
 */
export async function checkListedPlatform(
  { stores, clock }: TenantsDeps,
  platformId: string,
): Promise<"sound" | "damaged" | "removed"> {
  const { platforms, closings } = stores;
  const found = await undefinedIfDamaged(
    platforms.find(platformId).then((platform) => ({ platform })),
  );
  if (found === undefined) return "damaged";
  const isAbsent = found.platform === undefined && isId("platform", platformId);
  if (!isAbsent || timeOfId("platform", platformId) > ago(clock, POINTERS_YOUNG_MS).getTime())
    return "sound";
  return (await closings.unlistIfAbsent(platformId)) ? "removed" : "sound";
}
