import { type MailKind, type OwnersNotice, writeWithOwnersNotice } from "../mail/mail.ts";
import type { Row } from "../runtime/storage/row.ts";
import type { RemovedPage } from "../runtime/walk-step.ts";
import type { TenantsDeps } from "./deps.ts";
import { erasedAt, type Platform } from "./platform.ts";
import { summarizePlatform } from "./platforms/platform-account.ts";
import type { UpdatePlatform } from "./platform-schema.ts";
import type { Profile } from "./profiles/profile.ts";
import { viewProfile } from "./profiles/read-profiles.ts";

const PAGE_KEYS = 80;
/** The title of a profile that is being erased, until its row is removed. */
const ERASED_TITLE = "Erased";

const DATE = { dateStyle: "long", timeStyle: "short", timeZone: "UTC" } as const;

/** Returns a notice of a closed platform, which says when it is erased. */
const closingNotice = (kind: MailKind, closedAt: string): OwnersNotice => ({
  kind,
  values: (locale) => ({ date: erasedAt(closedAt).toLocaleString(locale, DATE) }),
});

export type TenantsForErasure = ReturnType<typeof tenantsForErasure>;

/**
 * Makes what an erasure needs of a platform and of what it has. Everything may be repeated: what was ended or removed
 * isn't found again. Changes of a platform that its owners must know about are written with mails to them.
 */
export function tenantsForErasure(deps: TenantsDeps) {
  const { mail, readWallet, connectionsOf, stores } = deps;
  const { platforms, closings, profiles, keys } = stores;
  const withNotice = <T>(
    kind: MailKind,
    { id, closedAt }: { readonly id: string; readonly closedAt: string },
    write: (rows: readonly Row[]) => Promise<T>,
  ) => writeWithOwnersNotice(mail, id, closingNotice(kind, closedAt), write);
  /** Returns the first keys after a position, by application, and where the list continues. */
  const pageOfKeys = async (platformId: string, after: string | undefined) => {
    const { items, next } = await keys.list(platformId, null, { after, limit: PAGE_KEYS });
    const byApplication = Map.groupBy(items, ({ applicationId }) => applicationId).values();
    return { byApplication, count: items.length, next };
  };
  return {
    findPlatform: (id: string) => platforms.find(id),
    summarizePlatform: (platform: Platform) => summarizePlatform(readWallet, platform),
    setStatus: (id: string, status: UpdatePlatform["status"], at: string) =>
      platforms.setStatus(id, status, at),
    /** Closes an active platform. */
    close: (id: string, closedAt: string) =>
      withNotice("platformClosed", { id, closedAt }, (rows) => closings.close(id, closedAt, rows)),
    /** Makes a closed platform active again. */
    reopen: ({ id, updatedAt: closedAt }: Platform, at: string) =>
      withNotice("platformReopened", { id, closedAt }, (rows) =>
        platforms.setStatus(id, "active", at, rows),
      ),
    /** Announces the erasure of a closed platform, once each time that it was closed. */
    announce: (id: string, closedAt: string) =>
      withNotice("platformEnding", { id, closedAt }, (rows) =>
        closings.announce(id, closedAt, rows),
      ),
    /** Decides to erase a platform that was closed then. Returns false when it was opened again. */
    beginErasing: (id: string, closedAt: string) => closings.beginErasing(id, closedAt),
    /** Removes the platform from the lists of all and of names. */
    unlist: async (id: string): Promise<RemovedPage> => ({
      removed: (await closings.unlist(id)) ? 1 : 0,
      next: undefined,
    }),
    /** Removes a page of the platform's partition, and the platform itself last. Returns the number of rows. */
    removeRows: (id: string) => closings.removeRows(id),
    /** Revokes a page of keys. Returns where the list continues. */
    async revokeKeys(platformId: string, after: string | undefined): Promise<string | undefined> {
      const { byApplication, next } = await pageOfKeys(platformId, after);
      for (const own of byApplication) await keys.revokeAll(own);
      return next;
    },
    /** Removes a page of keys. */
    async clearKeys(platformId: string): Promise<RemovedPage> {
      const { byApplication, count } = await pageOfKeys(platformId, undefined);
      for (const own of byApplication) await keys.purgeAll(own);
      return { removed: count, next: count > 0 ? "more" : undefined };
    },
    findProfile: (platformId: string, id: string) => profiles.find(platformId, id),
    listProfiles: (platformId: string, after: string | undefined, limit: number) =>
      profiles.list(platformId, { applicationId: null }, { after, limit }),
    viewProfile: (platformId: string, profile: Profile) =>
      viewProfile(connectionsOf, platformId, profile),
    /** Removes personal data from the profile's row and disables it for good. Undefined without a row. */
    closeProfile: (platformId: string, id: string, at: string) =>
      profiles.update(platformId, id, (profile) =>
        profile.status === "erasing"
          ? profile
          : {
              ...profile,
              title: ERASED_TITLE,
              externalId: null,
              metadata: {},
              status: "erasing",
              updatedAt: at,
            },
      ),
    deleteProfile: (platformId: string, id: string) => profiles.delete(platformId, id),
  };
}
