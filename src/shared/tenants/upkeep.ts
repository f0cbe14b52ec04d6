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

/** Reports whether the platform's row is damaged. Requests get an error for it. A walk counts it and continues. */
export async function isPlatformDamaged(
  { stores }: TenantsDeps,
  platformId: string,
): Promise<boolean> {
  const reading = stores.platforms.find(platformId).then(() => "read");
  return (await undefinedIfDamaged(reading)) === undefined;
}
