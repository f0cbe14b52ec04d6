import type { Maker } from "../callers/caller.ts";
import { isMakerActive } from "./keys/profile-grants.ts";
import { linkGuard } from "./link-guard.ts";
import { listOwners } from "../people/staff/owners.ts";
import type { TenantStores } from "./stores.ts";

/** Makes what modules below ask of a platform and of what it has. */
export function tenantsForBelow(stores: TenantStores, now: () => Date) {
  const { platforms, applications, profiles, keys, users } = stores;
  const rows: Parameters<typeof isMakerActive>[0] = {
    key: (id) => keys.findWithHash(id),
    user: (platformId, id) => users.find(platformId, id),
  };
  return {
    findPlatform: (platformId: string) => platforms.find(platformId),
    findApplication: (platformId: string, id: string) => applications.find(platformId, id),
    findProfile: (platformId: string, id: string) => profiles.find(platformId, id),
    listApplicationIds: (platformId: string) => applications.listIds(platformId),
    listOwners: (platformId: string) => listOwners({ stores }, platformId),
    isMakerActive: (platformId: string, maker: Maker) =>
      isMakerActive(rows, { platformId, maker }, now()),
    linkGuard,
  };
}
