import type { DueDeps } from "./deps.ts";
import type { Due, DueStore, StoredDue } from "./due-store.ts";
import { minuteOf } from "./watermark-store.ts";

/** How far ahead hints are sent: their delay makes the work exact to the second. */
const AHEAD_MS = 90_000;
const RUN_MS_MAX = 45_000;
/** A day of missed minutes in one run, at most. */
const MINUTES_MAX = 1_500;
/** A hint that had no effect this long after its work was due was lost; each further one gets twice the time. */
const HINT_LOST_MS = 60_000;
const HINT_LOST_MS_MAX = 15 * 60_000;
const SENDS_AT_ONCE = 16;
/** After an outage nearly all of them are empty. */
const MINUTES_AT_ONCE = 16;
/** One owner's work that is due at once is told at this rate, after the first few: others' is told in between. */
const OWNER_FREE = 50;
const OWNER_MS = 20;

/** One kind of work that becomes due: where its times are kept, and how its workers are told. */
export interface DueWork<Ref> {
  readonly store: DueStore<Ref>;
  readonly hint: (due: Due<Ref>, delaySeconds: number) => Promise<void>;
}

/** Whether the timer might look too late, so that whoever writes the row sends the hint too. */
export function isSoon({ dueAt }: Due<unknown>, now: Date): boolean {
  return Date.parse(dueAt) - now.getTime() <= AHEAD_MS;
}

/** What a row needs now: a first hint, another one because the last was lost, or patience. */
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

/** One run of the timer. */
interface Run<Ref> {
  readonly services: DueDeps;
  readonly work: DueWork<Ref>;
  readonly now: Date;
  /** When an owner's next hint of a minute may be seen. */
  readonly turns: Map<string, number>;
}

/** Seconds after which the hint of a row is seen: when it is due, or after those of its owner that came before. */
function delaySeconds<Ref>({ work, now, turns }: Run<Ref>, due: Due<Ref>): number {
  const dueAt = Math.max(now.getTime(), Date.parse(due.dueAt));
  const owner = work.store.ownerOf(due);
  if (owner === undefined) return (dueAt - now.getTime()) / 1000;
  const key = `${owner}|${minuteOf(new Date(dueAt))}`;
  const turn = Math.max(turns.get(key) ?? 0, dueAt - OWNER_FREE * OWNER_MS) + OWNER_MS;
  turns.set(key, turn);
  return (Math.max(dueAt, turn) - now.getTime()) / 1000;
}

/** True when the row needs no other look in its minute. */
async function attend<Ref>(run: Run<Ref>, due: StoredDue<Ref>): Promise<boolean> {
  const { services, work, now } = run;
  const { store, hint } = work;
  try {
    switch (needOf(due, now)) {
      case "hint": {
        const seconds = delaySeconds(run, due);
        await hint(due, seconds);
        await store.markHinted(due, new Date(now.getTime() + seconds * 1000));
        return false;
      }
      case "hint_again":
        await hint(await store.moveUp(due, now), delaySeconds(run, due));
        return true;
      case "wait":
        return false;
    }
  } catch (error) {
    services.log.error("due work not hinted", { due: store.idOf(due), error });
    return false;
  }
}

/** For work that is written so close to its time that the timer might look too late. A loss of the hint costs only time. */
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
    services.log.warn("hint not sent, the timer will", { due: store.idOf(due), error });
  }
}

/** Hints a minute's work. True when none is left in it: work that was done has removed its row. */
async function enqueueMinute<Ref>(run: Run<Ref>, minute: string): Promise<boolean> {
  let isDone = true;
  let after: string | undefined;
  do {
    const { dues, next } = await run.work.store.listMinute(minute, after);
    for (let index = 0; index < dues.length; index += SENDS_AT_ONCE) {
      const batch = dues.slice(index, index + SENDS_AT_ONCE);
      const done = await Promise.all(batch.map((due) => attend(run, due)));
      isDone &&= done.every(Boolean);
    }
    after = next;
  } while (after !== undefined);
  return isDone;
}

/** Brings what was written too late for its minute into the present, and hints it. */
async function catchUp<Ref>(run: Run<Ref>): Promise<void> {
  const { services, work, now } = run;
  for (const due of await work.store.listLeftBehind(now)) {
    try {
      await work.hint(await work.store.moveUp(due, now), delaySeconds(run, due));
    } catch (error) {
      services.log.error("due work not hinted", { due: work.store.idOf(due), error });
    }
  }
}

/** How many lead that are done. */
function unbroken(done: readonly boolean[]): number {
  const broken = done.indexOf(false);
  return broken < 0 ? done.length : broken;
}

/**
 * Sends a hint for everything that is due soon or was missed. Idempotent; safe when missed, doubled or late: the
 * watermark moves only over minutes that were read to their end and have no row left.
 */
export async function enqueueDue<Ref>(services: DueDeps, work: DueWork<Ref>): Promise<void> {
  const startedAt = Date.now();
  const now = services.clock.now();
  const run = { services, work, now, turns: new Map<string, number>() };
  await catchUp(run);
  const minutes = await work.store.minutes(now, AHEAD_MS, MINUTES_MAX);
  let isUnbroken = true;
  for (let index = 0; index < minutes.length; index += MINUTES_AT_ONCE) {
    const batch = minutes.slice(index, index + MINUTES_AT_ONCE);
    const done = await Promise.all(batch.map((minute) => enqueueMinute(run, minute)));
    const through = isUnbroken ? batch[unbroken(done) - 1] : undefined;
    if (through !== undefined) await work.store.advance(through, now);
    isUnbroken &&= done.every(Boolean);
    if (Date.now() - startedAt > RUN_MS_MAX) return;
  }
}
