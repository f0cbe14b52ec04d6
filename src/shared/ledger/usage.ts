import { serviceUnavailable, validationFailed, AppError, notFound } from "../runtime/errors.ts";
import { isId, timeOfId } from "../runtime/ids.ts";
import { nextUtcDay } from "./wallet.ts";
import type { StoredEntry } from "./wallet-row.ts";
import { changesBalance, dayOf, toTotal } from "./day-totals.ts";
import type { LedgerDeps } from "./deps.ts";
import { type EntryFilter, fitsEntryFilter } from "./ledger-store.ts";
import type { DayTotal } from "./totals-row.ts";
import type { GroupBy, ListUsage } from "./schema.ts";
import { boundToView, listViewOf } from "../callers/caller.ts";
import type { OperatorScope, PlatformScope } from "../callers/scope.ts";
import type { Page } from "../runtime/page.ts";

export interface UsageTotal {
  readonly key: string | null;
  /** The change of the balance by the group's entries. Spending is negative. */
  readonly tokens: number;
  readonly entries: number;
}

export interface UsageTotals {
  readonly items: readonly UsageTotal[];
  /** The whole UTC days that are added up: from the first, and before the last. Null when no range was given. */
  readonly range: { readonly from: string | null; readonly to: string | null };
  /** Up to when entries are counted. Absent when all are. */
  readonly asOf?: string;
}

/** Entries that are not in the totals yet, and are added one by one. */
const TAIL_ENTRIES_MAX = 2_000;
/** Groups of days that one answer adds up: some megabytes. */
const GROUPS_MAX = 100_000;
const ENTRIES_OF_POST_MAX = 2_000;
/** The reconciliation may move the mark while totals are read, once an hour. */
const READINGS_MAX = 5;
/** Clocks of processes differ by less: no entry of a post is older than the post by more than this. */
const SKEW_MS = 5 * 60_000;

interface Days {
  /** Inclusive. */
  readonly from: string | undefined;
  /** Exclusive. */
  readonly before: string | undefined;
}

const midnight = (day: string | undefined) => (day === undefined ? null : `${day}T00:00:00.000Z`);

function tooLongPeriod(): AppError {
  return validationFailed([
    {
      path: "from",
      code: "range_too_large",
      message: 'must be nearer to "to": so many days can\'t be added up at once',
    },
  ]);
}

/** Adds up totals of days by the caller's grouping. */
class Sum {
  readonly #filter: EntryFilter;
  readonly #groupBy: GroupBy;
  readonly #groups = new Map<string | null, UsageTotal & { readonly last: number }>();

  constructor(filter: EntryFilter, groupBy: GroupBy) {
    this.#filter = filter;
    this.#groupBy = groupBy;
  }

  add(day: string, [applicationId, profileId, operation, tokens, entries, last]: DayTotal): void {
    const { postId: _, to: _to, from: _from, ...filter } = this.#filter;
    const group = { applicationId, profileId, operation, postId: null, createdAt: day };
    if (!fitsEntryFilter(group, filter)) return;
    const keys = { day, application: applicationId, profile: profileId, operation };
    const key = keys[this.#groupBy];
    const sum = this.#groups.get(key) ?? { tokens: 0, entries: 0, last: 0 };
    this.#groups.set(key, {
      key,
      tokens: sum.tokens + tokens,
      entries: sum.entries + entries,
      last: Math.max(sum.last, last),
    });
  }

  /** In the order of the newest entry of each. */
  get items(): readonly UsageTotal[] {
    const sorted = [...this.#groups.values()].toSorted((left, right) => right.last - left.last);
    return sorted.map(({ key, tokens, entries }) => ({ key, tokens, entries }));
  }
}

const isDayWithin = (day: string, { from = "", before }: Days) =>
  day >= from && (before === undefined || day < before);

/** Returns the number of an entry that is older than a time, close to the first newer one, or `low` if none is. */
export async function sequenceBefore(
  { stores }: LedgerDeps,
  platformId: string,
  time: string,
  numbers: { readonly low: number; readonly high: number },
): Promise<number> {
  let { low, high } = numbers;
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    const entry = await stores.ledger.find(platformId, middle);
    if (entry !== undefined && entry.createdAt < time) low = middle;
    else high = middle - 1;
  }
  return low;
}

/** Adds up only the entries of one post, however long the ledger is. */
async function addPost(
  deps: LedgerDeps,
  platformId: string,
  postId: string,
  add: (day: string, total: DayTotal) => void,
): Promise<void> {
  if (!isId("post", postId)) return;
  const time = new Date(timeOfId("post", postId) - SKEW_MS).toISOString();
  const { sequence: high } = await deps.stores.ledger.readWallet(platformId);
  const after = await sequenceBefore(deps, platformId, time, { low: 0, high });
  const range = { after, limit: ENTRIES_OF_POST_MAX };
  const entries = await deps.stores.ledger.entriesOfPost(platformId, postId, range);
  if (entries.length >= ENTRIES_OF_POST_MAX) throw tooLongPeriod();
  for (const entry of entries) if (changesBalance(entry)) add(dayOf(entry), toTotal(entry));
}

/**
 * Adds up the totals of days and the entries that aren't in them yet. Returns up to when entries are counted, if not
 * all are. Undefined when the reconciliation has moved the mark meanwhile, so that nothing is reliable.
 */
async function addDays(
  { stores: { ledger } }: LedgerDeps,
  platformId: string,
  days: Days,
  add: (day: string, total: DayTotal) => void,
): Promise<{ readonly asOf?: string } | undefined> {
  const { mark } = await ledger.findMark(platformId);
  let groups = 0;
  for await (const parts of ledger.totals(platformId, days)) {
    for (const { day, totals } of parts) for (const total of totals) add(day, total);
    groups += parts.reduce((sum, { totals }) => sum + totals.length, 0);
    if (groups > GROUPS_MAX) throw tooLongPeriod();
  }
  const now = await ledger.findMark(platformId);
  if (now.mark.sequence !== mark.sequence) return undefined;
  const { sequence } = await ledger.readWallet(platformId);
  if (sequence - mark.sequence > TAIL_ENTRIES_MAX) {
    const last = await ledger.find(platformId, Math.max(1, mark.sequence));
    return last === undefined ? {} : { asOf: last.createdAt };
  }
  for (const entry of await ledger.entries(platformId, mark.sequence, sequence))
    if (changesBalance(entry) && isDayWithin(dayOf(entry), days)) add(dayOf(entry), toTotal(entry));
  return {};
}

/**
 * Returns the changes of the balance, added up by group, for whole UTC days.
 * @throws AppError `validation_failed` when there are too many groups to add up
 */
async function totalUsage(
  deps: LedgerDeps,
  platformId: string,
  filter: EntryFilter,
  groupBy: GroupBy,
): Promise<UsageTotals> {
  const { from, to } = filter;
  const isMidnight = to?.endsWith("T00:00:00.000Z") === true;
  const before = to === undefined || isMidnight ? to : nextUtcDay(new Date(to));
  const days = { from: from?.slice(0, 10), before: before?.slice(0, 10) };
  const range = { from: midnight(days.from), to: midnight(days.before) };
  for (let reading = 0; reading < READINGS_MAX; reading += 1) {
    const sum = new Sum(filter, groupBy);
    const add = (day: string, total: DayTotal) => sum.add(day, total);
    const { postId } = filter;
    if (postId !== undefined) {
      await addPost(deps, platformId, postId, (day, total) => {
        if (isDayWithin(day, days)) add(day, total);
      });
      return { items: sum.items, range };
    }
    const counted = await addDays(deps, platformId, days, add);
    if (counted !== undefined) return { items: sum.items, range, ...counted };
  }
  throw serviceUnavailable();
}

export function entryView(entry: StoredEntry) {
  const { sequence: _, legs: _legs, network, ...shown } = entry;
  return { ...shown, platform: network };
}

/**
 * Returns the entries that a query asks for and its caller may see: of a key those of its application, and of a
 * restricted one those of its profiles. Also what a cursor is bound to.
 * @throws AppError `application_mismatch`
 */
export function usageFilterOf(
  { caller, platformId, applicationId: own }: PlatformScope,
  asked: Omit<EntryFilter, "profileIds">,
) {
  const applicationId = own ?? asked.applicationId;
  // Otherwise its own entries would look like the other application's.
  if (asked.applicationId !== undefined && asked.applicationId !== applicationId)
    throw new AppError("application_mismatch", "The caller's application is another one.");
  const view = listViewOf(caller);
  const fields = { ...asked, applicationId };
  return {
    filter: { ...fields, profileIds: view?.profileIds },
    bound: { list: "usage", platformId, ...fields, ...boundToView(view) },
  };
}

type UsagePage = Page<ReturnType<typeof entryView> | UsageTotal>;

/**
 * Lists the ledger, newest first, or its totals with `groupBy`. A key sees the entries of its application, and a
 * restricted one those of its profiles.
 * @throws AppError `application_mismatch`, `invalid_cursor`
 */
export function listUsage(
  deps: LedgerDeps,
  scope: PlatformScope,
  query: ListUsage,
): Promise<UsagePage> {
  const { limit: _limit, cursor: _cursor, groupBy: _groupBy, ...asked } = query;
  return pageOfUsage(deps, scope.platformId, query, usageFilterOf(scope, asked));
}

/** Lists a platform's ledger as `listUsage` does. @throws AppError `not_found`, `invalid_cursor` */
export async function listPlatformUsage(
  deps: LedgerDeps,
  _scope: OperatorScope,
  { platformId, ...query }: ListUsage & { readonly platformId: string },
): Promise<UsagePage> {
  if ((await deps.findPlatform(platformId)) === undefined) throw notFound();
  const { limit: _limit, cursor: _cursor, groupBy: _groupBy, ...filter } = query;
  const bound = { list: "usage of a platform", platformId, ...filter };
  return await pageOfUsage(deps, platformId, query, { filter, bound });
}

async function pageOfUsage(
  deps: LedgerDeps,
  platformId: string,
  { limit, cursor, groupBy }: Pick<ListUsage, "limit" | "cursor" | "groupBy">,
  { filter, bound }: { readonly filter: EntryFilter; readonly bound: object },
): Promise<UsagePage> {
  if (groupBy !== undefined) {
    const { items, ...about } = await totalUsage(deps, platformId, filter, groupBy);
    return { items, nextCursor: null, limit, about };
  }
  const after = deps.cursors.read(cursor, bound);
  const { items, next } = await deps.stores.ledger.list(platformId, filter, {
    after,
    limit,
  });
  return {
    items: items.map(entryView),
    nextCursor: next === undefined ? null : deps.cursors.make(next, bound),
    limit,
  };
}
