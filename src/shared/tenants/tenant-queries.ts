import type { LinkGuard } from "../connections/connections.ts";
import { applicationKey, applicationRow } from "./applications/application-store.ts";
import { keyRowKey, toKey } from "./keys/key-row.ts";
import { keyStatus } from "./keys/key.ts";
import { PLATFORM_ROW_KEY, platformRow } from "./platform-row.ts";
import { profileKey, profileRow } from "./profiles/profile-store.ts";
import type { TenantStores } from "./stores.ts";

/** The profile that an account is linked to. */
interface LinkedProfile {
  readonly platformId: string;
  readonly applicationId: string;
  readonly profileId: string;
}

/** Returns the rows that must exist and be active in the transaction that links an account, those of the keys too. */
function linkGuard(
  { platformId, applicationId, profileId }: LinkedProfile,
  keyIds: readonly string[],
): LinkGuard {
  const application = applicationKey(applicationId);
  const profile = profileKey(profileId);
  const keys = keyIds.map(keyRowKey);
  return {
    rowKeys: [PLATFORM_ROW_KEY, application, profile, ...keys],
    allows({ row, now }) {
      const decoded = [
        [row(PLATFORM_ROW_KEY), platformRow],
        [row(application), applicationRow],
        [row(profile), profileRow],
      ] as const;
      const isActive = decoded.every(
        ([stored, codec]) => stored !== undefined && codec.decode(stored.row).status === "active",
      );
      const isKeyActive = (key: string) => {
        const stored = row(key);
        return stored !== undefined && keyStatus(toKey(platformId, stored.row), now) === "active";
      };
      return isActive && keys.every(isKeyActive);
    },
  };
}

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
    ping: () => platforms.ping(),
  };
}
