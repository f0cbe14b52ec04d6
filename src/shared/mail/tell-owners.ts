import type { RowWrite } from "../runtime/storage/row.ts";
import { LOST, retryLostRaces } from "../runtime/retry-lost-races.ts";
import type { MailDeps } from "./deps.ts";
import { noticesWrite, type StoredNotices, type WaitingNotice } from "./notice-store.ts";
import { NOTICES, type Happening, type OwnerNotice } from "./notice.ts";
import { quotable } from "./quotable.ts";
import type { MailValues } from "./mail-content.ts";
import { inBatches } from "../runtime/promises.ts";
import { offLink } from "./off-link.ts";
import { isMailOn, mailRows, markMail, type MarkDeps } from "./post-mail.ts";

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
/** Everything that happens within a minute is reported in one mail. */
const GATHERED_MS = MINUTE_MS;
const PER_DAY = 10;
/** Further items are only counted, so that the row and the mail stay small. */
const ITEMS_MAX = 20;
const NAMED_AT_ONCE = 5;

/** Returns when the platform's owners may get the next mail: at most once an hour and ten times a day. */
function dueAt({ notice, since }: WaitingNotice, { sent }: StoredNotices): number {
  const times = sent.filter((one) => one.notice === notice).map(({ at }) => Date.parse(at));
  const [last = -Infinity, tenth = -Infinity] = [times.at(-1), times.at(-PER_DAY)];
  return Math.max(Date.parse(since) + GATHERED_MS, last + HOUR_MS, tenth + DAY_MS);
}

function withHappening(
  waiting: readonly WaitingNotice[],
  { notice, values }: Happening,
  since: string,
) {
  const none: WaitingNotice = { notice, since, count: 0, items: [] };
  const before = waiting.find((one) => one.notice === notice) ?? none;
  const items = [...before.items, values].slice(0, ITEMS_MAX);
  const others = waiting.filter((one) => one.notice !== notice);
  return [...others, { ...before, count: before.count + 1, items }];
}

/** Marks a platform whose owners still have to be notified. Returns whether it did. */
export async function markIfNoticesWait(
  deps: MarkDeps,
  platformId: string,
  notices: StoredNotices,
): Promise<boolean> {
  const due = notices.waiting.map((one) => dueAt(one, notices));
  if (due.length === 0) return false;
  await markMail(deps, platformId, Math.min(...due));
  return true;
}

/** Changes of a platform's partition, and the notices that report them to its owners. */
interface NotifiedChange {
  readonly writes: readonly RowWrite[];
  readonly happenings: readonly Happening[];
}

/**
 * Writes changes and their notices in one transaction, so that a crash neither loses nor repeats a notice. `prepare`
 * reads what is to be changed (again after a lost race), and returns undefined when there is nothing left to do.
 * Returns whether this call has written the changes.
 */
export function writeAndTell(
  deps: MailDeps,
  platformId: string,
  prepare: () => Promise<NotifiedChange | undefined>,
): Promise<boolean> {
  const { clock, stores } = deps;
  return retryLostRaces(async () => {
    const told = await prepare();
    if (told === undefined) return false;
    const { writes, happenings } = told;
    const stored = isMailOn(deps.config) ? await stores.notices.find(platformId) : undefined;
    const wanted = happenings.filter(({ notice }) => stored?.off.includes(notice) === false);
    if (stored === undefined || wanted.length === 0)
      return (await stores.notices.write(platformId, writes)) || LOST;
    const since = clock.now().toISOString();
    let { waiting } = stored;
    for (const happening of wanted) waiting = withHappening(waiting, happening, since);
    const isNew = ({ notice }: WaitingNotice) =>
      stored.waiting.every((one) => one.notice !== notice);
    const due = waiting.filter(isNew).map((one) => dueAt(one, stored));
    if (due.length > 0) await markMail(deps, platformId, Math.min(...due));
    const all = [...writes, noticesWrite(stored, { ...stored, waiting })];
    if (!(await stores.notices.write(platformId, all))) return LOST;
    const waitMs = Math.min(...due) - clock.now().getTime();
    if (waitMs <= GATHERED_MS) await deps.askForWalk(Math.max(0, waitMs) / 1_000);
    return true;
  });
}

const isNotice = (text: string): text is OwnerNotice => NOTICES.some((notice) => notice === text);

/** Replaces an item's ids by names that a mail may quote. */
async function namedItem(
  deps: Pick<MailDeps, "namesOf">,
  platformId: string,
  item: MailValues,
): Promise<MailValues> {
  const { network = "", ...named } = await deps.namesOf(platformId, item);
  const names = Object.entries(named)
    .map(([field, name]) => [field, quotable(name)] as const)
    .flatMap(([field, name]) => (name === "" ? [] : [[field, `“${name}”`]]));
  const shown = network === "" ? item : { ...item, network };
  return { ...shown, ...Object.fromEntries(names) };
}

/** Makes the mails of one notice that is due, one per owner. Returns false when none is due. */
async function tellOne(deps: MailDeps, platformId: string, stored: StoredNotices) {
  const { clock, config, stores } = deps;
  const now = clock.now();
  const due = stored.waiting.find((one) => dueAt(one, stored) <= now.getTime());
  if (due === undefined) return false;
  const { notice, items, count } = due;
  const owners = isNotice(notice) ? await deps.owners(platformId) : [];
  // The notice has only ids, because it may outlive data that are erased.
  const named = await inBatches(items, NAMED_AT_ONCE, (item) => namedItem(deps, platformId, item));
  const rows = mailRows(
    deps,
    platformId,
    owners.map(({ id: userId, email: to, locale }) => ({
      // Safe: owners are only read when there is a notice.
      kind: notice as OwnerNotice,
      to,
      locale,
      values: { low: String(config.limits.balanceLowTokens) },
      list: { items: named, more: count - items.length },
      off: offLink(config, { platformId, userId, notice: notice as OwnerNotice }, now),
    })),
  );
  const recent = stored.sent.filter(({ at }) => Date.parse(at) > now.getTime() - DAY_MS);
  const next = {
    off: stored.off,
    waiting: stored.waiting.filter((one) => one !== due),
    sent: [...recent, { notice, at: now.toISOString() }],
  };
  const creates = rows.map((row) => ({ kind: "create", row }) as const);
  // A lost race means that another process does the same, or that more has happened. Either way it is checked again.
  await stores.notices.write(platformId, [noticesWrite(stored, next), ...creates]);
  return true;
}

/** Makes the mails for the notices that have waited long enough. Returns whether there are any. */
export async function tellOwners(
  deps: MailDeps,
  platformId: string,
  notices: StoredNotices,
): Promise<boolean> {
  let present = notices;
  for (let tries = 0; tries < 2 * NOTICES.length; tries += 1) {
    if (!(await tellOne(deps, platformId, present))) return tries > 0;
    present = await deps.stores.notices.find(platformId);
  }
  return true;
}
