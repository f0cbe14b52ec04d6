import type { TakeStep, WalkAt, WalkStep } from "../runtime/walk-step.ts";
import type { DueDeps } from "./deps.ts";
import { type Due, type DueStore, type StoredDue, minuteAfter, minuteOf } from "./due-store.ts";

/**
 * How far ahead hints are sent: their delay makes the work exact to the second. It is nearly two runs of the timer, so
 * that a run whose hints are refused delays nothing: the next one is still in time. Two whole runs would have each run
 * read one minute more.
 */
const AHEAD_MS = 118_000;
/** A hint that had no effect this long after its work was due was lost; each further one gets twice the time. */
const HINT_LOST_MS = 60_000;
const HINT_LOST_MS_MAX = 15 * 60_000;
const SENDS_AT_ONCE = 16;
/** After an outage nearly all of them are empty. */
const MINUTES_AT_ONCE = 16;
/** Hints for one owner's work that is due at once are spaced at this rate, after the first few: others' fit in between. */
const OWNER_FREE = 50;
const OWNER_MS = 20;

/** One kind of work that becomes due: where its times are kept, and how its hints are sent. */
export interface DueWork<Ref> {
  readonly store: DueStore<Ref>;
  readonly hint: (due: Due<Ref>, delaySeconds: number) => Promise<void>;
}

/** Returns whether the timer might look too late, so that the process that writes the row has to send the hint. */
export function isSoon({ dueAt }: Due<unknown>, now: Date): boolean {
  return Date.parse(dueAt) - now.getTime() <= AHEAD_MS;
}

/** Decides what a row needs now: a first hint, another one because the last was lost, or nothing yet. */
export function needOf(
  { dueAt, hintedAt, lost }: Omit<StoredDue<unknown>, "ref">,
  now: Date,
): "hint" | "hint_again" | "wait" {
  if (Date.parse(dueAt) > now.getTime() + AHEAD_MS) return "wait";
  if (hintedAt === null) return "hint";
  const since = Math.max(Date.parse(dueAt), Date.parse(hintedAt));
  const patienceMs = Math.min(HINT_LOST_MS * 2 ** lost, HINT_LOST_MS_MAX);
  return now.getTime() - since > patienceMs ? "hint_again" : "wait";
}

/** What a run of the walk remembers. */
interface Run<Ref> {
  readonly services: DueDeps;
  readonly work: DueWork<Ref>;
  /** When an owner's next hint of a minute may be seen. */
  readonly nextAt: Map<string, number>;
}

/** Seconds after which the hint of a row is seen: when it is due, or after those of its owner that came before. */
function delaySeconds<Ref>({ work, nextAt }: Run<Ref>, due: Due<Ref>, now: Date): number {
  const dueAt = Math.max(now.getTime(), Date.parse(due.dueAt));
  const owner = work.store.ownerOf(due);
  if (owner === undefined) return (dueAt - now.getTime()) / 1000;
  const key = `${owner}|${minuteOf(new Date(dueAt))}`;
  const at = Math.max(nextAt.get(key) ?? 0, dueAt - OWNER_FREE * OWNER_MS) + OWNER_MS;
  nextAt.set(key, at);
  return (Math.max(dueAt, at) - now.getTime()) / 1000;
}

/**
 * Sends another hint for a row, and then moves the row to the present. A crash in between costs one hint more. A hint
 * that can't be sent leaves the row as it is, for the next run.
 */
async function hintAgain<Ref>(run: Run<Ref>, due: StoredDue<Ref>, now: Date): Promise<void> {
  const { store, hint } = run.work;
  const dueAt = now.toISOString();
  const seconds = delaySeconds(run, { ...due, dueAt }, now);
  await hint({ ref: due.ref, dueAt }, seconds);
  await store.moveUp(due, dueAt, new Date(now.getTime() + seconds * 1000));
}

/** Handles a row. Returns true when the row need not be looked at again in its minute. */
async function hintIfNeeded<Ref>(run: Run<Ref>, due: StoredDue<Ref>, now: Date): Promise<boolean> {
  const { services, work } = run;
  const { store, hint } = work;
  try {
    switch (needOf(due, now)) {
      case "hint": {
        const seconds = delaySeconds(run, due, now);
        await hint(due, seconds);
        await store.markHinted(due, new Date(now.getTime() + seconds * 1000));
        return false;
      }
      case "hint_again":
        await hintAgain(run, due, now);
        return true;
      case "wait":
        return false;
    }
  } catch (error) {
    services.log.error("due work not hinted", { due: store.idOf(due), error });
    return false;
  }
}

/** Notes a hint that was not sent. If that fails as well, the row waits as it does for a hint that had no effect. */
async function noteUnsent<Ref>(
  { log }: DueDeps,
  store: DueStore<Ref>,
  due: Due<Ref>,
  cause: unknown,
) {
  log.warn("hint not sent, the timer will", { due: store.idOf(due), error: cause });
  try {
    await store.markUnsent(due);
  } catch (error) {
    log.warn("a hint that was not sent could not be noted", { due: store.idOf(due), error });
  }
}

/** Sends the hint of work that was written so late that the timer might miss it. A lost hint costs only time. */
export async function hintIfSoon<Ref>(
  services: DueDeps,
  { store, hint }: DueWork<Ref>,
  due: Due<Ref>,
): Promise<void> {
  const now = services.clock.now();
  if (!isSoon(due, now)) return;
  try {
    await hint(due, (Date.parse(due.dueAt) - now.getTime()) / 1000);
  } catch (error) {
    await noteUnsent(services, store, due, error);
  }
}

interface MinuteEnd {
  /** No row is left: work that was done has removed its own. */
  readonly isDone: boolean;
  /** It was read to its end. */
  readonly isRead: boolean;
}

/** Hints a minute's work. What was hinted already costs a second look nothing but a read. */
async function enqueueMinute<Ref>(run: Run<Ref>, minute: string, at: WalkAt): Promise<MinuteEnd> {
  let isDone = true;
  let after: string | undefined;
  do {
    const { dues, next } = await run.work.store.listMinute(minute, after);
    const now = run.services.clock.now();
    for (let index = 0; index < dues.length; index += SENDS_AT_ONCE) {
      if (index > 0 && at.isTimeUp()) return { isDone: false, isRead: false };
      const batch = dues.slice(index, index + SENDS_AT_ONCE);
      const done = await Promise.all(batch.map((due) => hintIfNeeded(run, due, now)));
      isDone &&= done.every(Boolean);
    }
    after = next;
  } while (after !== undefined);
  return { isDone, isRead: true };
}

/** Returns how many lead that are so. */
function leading<T>(ends: readonly T[], isSo: (end: T) => boolean): number {
  const broken = ends.findIndex((end) => !isSo(end));
  return broken < 0 ? ends.length : broken;
}

/** Brings a page of what was written too late for its minute into the present, and hints it. */
async function catchUp<Ref>(run: Run<Ref>, after: string | undefined): Promise<WalkStep> {
  const { services, work } = run;
  const { dues, next } = await work.store.listLeftBehind(services.clock.now(), after);
  for (let index = 0; index < dues.length; index += SENDS_AT_ONCE)
    await Promise.all(dues.slice(index, index + SENDS_AT_ONCE).map((due) => catchUpWith(run, due)));
  const position: Position = next === undefined ? { from: null } : { after: next };
  return { next: JSON.stringify(position) };
}

async function catchUpWith<Ref>(run: Run<Ref>, due: StoredDue<Ref>): Promise<void> {
  const { services, work } = run;
  const now = services.clock.now();
  try {
    await hintAgain(run, due, now);
  } catch (error) {
    services.log.error("due work not hinted", { due: work.store.idOf(due), error });
  }
}

/** Of the past: a page of what was left behind, or a minute to go on from; null for where the store's own mark is. */
type Position =
  | { readonly after: string | undefined }
  | { readonly from: string | null; readonly isUnfinished?: boolean };

/** Looks at the current minutes, all at once: what is due now does not wait for what was due before. */
async function stepPresent<Ref>(run: Run<Ref>, at: WalkAt): Promise<WalkStep> {
  const { services, work } = run;
  const minutes = work.store
    .presentMinutes(services.clock.now(), AHEAD_MS)
    .filter((minute) => at.position === undefined || minute >= at.position);
  for (const minute of minutes) {
    const { isRead } = await enqueueMinute(run, minute, at);
    if (!isRead) return { next: minute };
  }
  return { next: undefined };
}

/** Looks at sixteen of the minutes before. The store's mark moves past minutes that have no row left. */
async function stepPast<Ref>(run: Run<Ref>, at: WalkAt): Promise<WalkStep> {
  const { services, work } = run;
  // Safe: positions come from here alone.
  const position =
    at.position === undefined ? { after: undefined } : (JSON.parse(at.position) as Position);
  if (!("from" in position)) return catchUp(run, position.after);
  const now = services.clock.now();
  const minutes = await work.store.pastMinutes(now, position.from ?? undefined, MINUTES_AT_ONCE);
  if (minutes.length === 0) return { next: undefined };
  const ends = await Promise.all(minutes.map((minute) => enqueueMinute(run, minute, at)));
  const done = leading(ends, ({ isDone }) => isDone);
  const last = minutes[done - 1];
  if (last !== undefined && position.isUnfinished !== true)
    await work.store.advance(minuteAfter(last));
  const isUnfinished = position.isUnfinished === true || done < ends.length;
  const read = leading(ends, ({ isRead }) => isRead);
  const from = minutes[read] ?? minuteAfter(minutes.at(-1) ?? "");
  return { next: JSON.stringify({ from, isUnfinished } satisfies Position) };
}

/** The shards of a walk over due work: the present, and what is left of the past. */
export const DUE_SHARDS = 2;

/**
 * Makes the steps that send a hint for everything that is due soon or was missed. The store's mark moves only over
 * minutes that were read to their end and have no row left.
 */
export function hintDueWork<Ref>(services: DueDeps, work: DueWork<Ref>): TakeStep {
  const run: Run<Ref> = { services, work, nextAt: new Map() };
  return (at) => (at.shard === 0 ? stepPresent(run, at) : stepPast(run, at));
}
