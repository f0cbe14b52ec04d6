import { linkGuard } from "./link-guard.ts";
import type { TenantStores } from "./stores.ts";

export type TenantQueries = ReturnType<typeof createTenantQueries>;

/** Makes what other modules ask of a platform and of what it has. */
export function createTenantQueries({ platforms, applications, profiles, keys }: TenantStores) {
  return {
    findPlatform: (platformId: string) => platforms.find(platformId),
    findApplication: (platformId: string, id: string) => applications.find(platformId, id),
    findProfile: (platformId: string, id: string) => profiles.find(platformId, id),
    findKey: (id: string) => keys.findWithHash(id),
    listApplicationIds: (platformId: string) => applications.listIds(platformId),
    linkGuard,
  };
}
