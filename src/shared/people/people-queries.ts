import type { Maker } from "../callers/caller.ts";
import type { LinkGuard } from "../connections/connections.ts";
import type { TenantQueries } from "../tenants/tenants.ts";
import { isMakerActive } from "./access-rows.ts";
import { toUser, userKey } from "./staff/user-store.ts";
import { isSessionLive, type User } from "./staff/user.ts";
import type { PeopleStores } from "./stores.ts";

const PAGE_USERS = 100;
/** The number of mails in one transaction. */
const OWNERS_MAX = 50;

/**
 * Lists the owners who get mail about the whole platform: those with verified emails, at most as many as one
 * transaction has mails.
 */
async function listOwners(
  { users }: Pick<PeopleStores, "users">,
  platformId: string,
): Promise<readonly User[]> {
  const owners: User[] = [];
  let after: string | undefined;
  do {
    const { items, next } = await users.list(platformId, after, PAGE_USERS);
    owners.push(...items.filter(({ role, emailVerified }) => role === "owner" && emailVerified));
    after = next;
  } while (after !== undefined && owners.length < OWNERS_MAX);
  return owners.slice(0, OWNERS_MAX);
}

/** Makes what modules below ask of those who log in, and of the keys and sessions that made something. */
export function createPeopleQueries(stores: PeopleStores, tenants: TenantQueries, now: () => Date) {
  const rows: Parameters<typeof isMakerActive>[0] = {
    key: tenants.findKey,
    user: (platformId, id) => stores.users.find(platformId, id),
  };
  return {
    listOwners: (platformId: string) => listOwners(stores, platformId),
    isMakerActive: (platformId: string, maker: Maker) =>
      isMakerActive(rows, { platformId, maker }, now()),
    /** Returns the rows that must exist and be active in the transaction that links an account, those of `makers` too. */
    linkGuard(
      profile: Parameters<TenantQueries["linkGuard"]>[0],
      makers: readonly Maker[],
    ): LinkGuard {
      const keyIds = makers.flatMap(({ id, session }) => (session === null ? [id] : []));
      const sessions = makers.flatMap(({ id, session }) =>
        session === null ? [] : [{ rowKey: userKey(id), session }],
      );
      const guard = tenants.linkGuard(profile, keyIds);
      return {
        rowKeys: [...guard.rowKeys, ...sessions.map(({ rowKey }) => rowKey)],
        allows: (view) =>
          guard.allows(view) &&
          sessions.every(({ rowKey, session }) => {
            const stored = view.row(rowKey);
            return (
              stored !== undefined && isSessionLive(toUser(profile.platformId, stored.row), session)
            );
          }),
      };
    },
  };
}
