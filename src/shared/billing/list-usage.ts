import { boundToView, listViewOf } from "../callers/caller.ts";
import type { PlatformScope } from "../callers/scope.ts";
import { AppError, validationFailed } from "../runtime/errors.ts";
import type { Page } from "../runtime/page.ts";
import type { BillingDeps } from "./deps.ts";
import type { ListUsage, GroupBy } from "./schema.ts";
import type { StoredEntry, EntryFilter } from "./wallet-store.ts";

export interface UsageTotal {
  readonly key: string | null;
  /** The change of the balance by the group's entries: spending is negative. */
  readonly tokens: number;
  readonly entries: number;
}

const PAGE_ENTRIES = 1_000;
/** Entries that one answer sums at most. */
const ENTRIES_MAX = 50_000;
/** Pages that are read for a caller who sees few of the entries, each of up to 2,000 of them. */
const SPARSE_PAGES_MAX = 100;

const KEY_OF: Readonly<Record<GroupBy, (entry: StoredEntry) => string | null>> = {
  day: (entry) => entry.createdAt.slice(0, 10),
  application: (entry) => entry.applicationId,
  profile: (entry) => entry.profileId,
  operation: (entry) => entry.operation,
};

const changesBalance = ({ type }: StoredEntry) => type !== "reserve" && type !== "release";

/**
 * Sums the changes of the balance by group, ordered by the newest entry of each.
 * @throws AppError `validation_failed` when the range has too many entries for one answer
 */
async function totalUsage(
  services: BillingDeps,
  platformId: string,
  filter: EntryFilter,
  groupBy: GroupBy,
): Promise<UsageTotal[]> {
  const totals = new Map<string | null, UsageTotal>();
  let after: string | undefined;
  let read = 0;
  let pages = 0;
  do {
    const page = { after, limit: PAGE_ENTRIES };
    const { items, next } = await services.wallets.listEntries(platformId, filter, page);
    for (const entry of items.filter(changesBalance)) {
      const key = KEY_OF[groupBy](entry);
      const { tokens, entries } = totals.get(key) ?? { tokens: 0, entries: 0 };
      totals.set(key, { key, tokens: tokens + entry.tokens, entries: entries + 1 });
    }
    read += items.length;
    after = next;
    pages += 1;
    const isTooSparse = filter.profileIds !== undefined && pages >= SPARSE_PAGES_MAX;
    if (read > ENTRIES_MAX || (isTooSparse && after !== undefined))
      throw validationFailed([
        { path: "from", code: "range_too_large", message: "narrow the range with from and to" },
      ]);
  } while (after !== undefined);
  return [...totals.values()];
}

/** Returns a ledger entry as its platform sees it. */
export function entryView(entry: StoredEntry) {
  const { sequence: _, network, ...shown } = entry;
  return { ...shown, platform: network };
}

/**
 * Lists the ledger, newest first, or with `groupBy` its totals. A key sees the entries of its application, a restricted
 * one those of its profiles.
 * @throws AppError `application_mismatch`, `invalid_cursor`
 */
export async function listUsage(
  services: BillingDeps,
  scope: PlatformScope,
  query: ListUsage,
): Promise<Page<ReturnType<typeof entryView> | UsageTotal>> {
  const { limit, cursor, groupBy, ...asked } = query;
  const applicationId = scope.applicationId ?? asked.applicationId;
  // Otherwise its own entries would look like the other application's.
  if (asked.applicationId !== undefined && asked.applicationId !== applicationId)
    throw new AppError("application_mismatch", "The caller's application is another one.");
  const view = listViewOf(scope.caller);
  const fields = { ...asked, applicationId };
  const filter = { ...fields, profileIds: view?.profileIds };
  if (groupBy !== undefined) {
    const items = await totalUsage(services, scope.platformId, filter, groupBy);
    return { items, nextCursor: null, limit };
  }
  const bound = {
    list: "usage",
    platformId: scope.platformId,
    ...fields,
    ...boundToView(view),
  };
  const after = services.cursors.read(cursor, bound);
  const { items, next } = await services.wallets.listEntries(scope.platformId, filter, {
    after,
    limit,
  });
  return {
    items: items.map(entryView),
    nextCursor: next === undefined ? null : services.cursors.make(next, bound),
    limit,
  };
}
