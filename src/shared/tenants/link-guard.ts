import type { Maker } from "../callers/caller.ts";
import type { LinkGuard } from "../connections/connections.ts";
import { applicationKey, applicationRow } from "./applications/application-store.ts";
import { keyRowKey, toKey } from "./keys/key-row.ts";
import { keyStatus } from "./keys/key.ts";
import { PLATFORM_ROW_KEY, platformRow } from "./platform-row.ts";
import { profileKey, profileRow } from "./profiles/profile-store.ts";
import { toUser, userKey } from "../people/staff/user-store.ts";
import { isSessionLive } from "../people/staff/user.ts";

/** The profile that an account is linked to. */
interface LinkedProfile {
  readonly platformId: string;
  readonly applicationId: string;
  readonly profileId: string;
}

/** Returns the rows that must exist and be active in the transaction that links an account, those of `makers` too. */
export function linkGuard(
  { platformId, applicationId, profileId }: LinkedProfile,
  makers: readonly Maker[],
): LinkGuard {
  const application = applicationKey(applicationId);
  const profile = profileKey(profileId);
  const makerKey = ({ id, session }: Maker) => (session === null ? keyRowKey(id) : userKey(id));
  return {
    rowKeys: [PLATFORM_ROW_KEY, application, profile, ...makers.map(makerKey)],
    allows({ row, now }) {
      const decoded = [
        [row(PLATFORM_ROW_KEY), platformRow],
        [row(application), applicationRow],
        [row(profile), profileRow],
      ] as const;
      const isActive = decoded.every(
        ([stored, codec]) => stored !== undefined && codec.decode(stored.row).status === "active",
      );
      const isMakerActive = (maker: Maker) => {
        const stored = row(makerKey(maker));
        if (stored === undefined) return false;
        return maker.session === null
          ? keyStatus(toKey(platformId, stored.row), now) === "active"
          : isSessionLive(toUser(platformId, stored.row), maker.session);
      };
      return isActive && makers.every(isMakerActive);
    },
  };
}
