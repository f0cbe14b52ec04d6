import type { LinkGuard } from "../connections/connections.ts";
import { applicationKey, applicationRow } from "./applications/application-store.ts";
import { keyRowKey, toKey } from "./keys/key-row.ts";
import { keyStatus } from "./keys/key.ts";
import { PLATFORM_ROW_KEY, platformRow } from "./platform-row.ts";
import { profileKey, profileRow } from "./profiles/profile-store.ts";
import { userKey } from "./staff/user-store.ts";

/** The profile that an account is linked to, and the keys and users that the link's session depends on. */
interface Linked {
  readonly platformId: string;
  readonly applicationId: string;
  readonly profileId: string;
}

const isUser = (id: string) => id.startsWith("usr_");

/** Returns the rows that must exist and be active in the transaction that links an account. */
export function linkGuard(
  { platformId, applicationId, profileId }: Linked,
  actorIds: readonly string[],
): LinkGuard {
  const application = applicationKey(applicationId);
  const profile = profileKey(profileId);
  const actorKey = (id: string) => (isUser(id) ? userKey(id) : keyRowKey(id));
  return {
    rowKeys: [PLATFORM_ROW_KEY, application, profile, ...actorIds.map(actorKey)],
    allows({ row, now }) {
      const decoded = [
        [row(PLATFORM_ROW_KEY), platformRow],
        [row(application), applicationRow],
        [row(profile), profileRow],
      ] as const;
      const isActive = decoded.every(
        ([stored, codec]) => stored !== undefined && codec.decode(stored.row).status === "active",
      );
      const isActorActive = (id: string) => {
        const stored = row(actorKey(id));
        if (stored === undefined || isUser(id)) return stored !== undefined;
        return keyStatus(toKey(platformId, stored.row), now) === "active";
      };
      return isActive && actorIds.every(isActorActive);
    },
  };
}
