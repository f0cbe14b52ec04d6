import type { Services } from "../services.ts";
import type { Due, DueStore, StoredDue } from "./due-store.ts";

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

/** One kind of work that becomes due: where its times are kept, and how its workers are told. */
export interface DueWork<Place> {
  readonly store: DueStore<Place>;
  readonly hint: (due: Due<Place>, delaySeconds: number) => Promise<void>;
}

/** Whether the timer might look too late, so that whoever writes the row sends the hint too. */
export function isSoon({ dueAt }: Due<unknown>, now: Date): boolean {
  return Date.parse(dueAt) - now.getTime() <= AHEAD_MS;
}

/** What a row needs now: a first hint, another one because the last was lost, or patience. */
export function needOf(
  { dueAt, hintedAt, lost }: Omit<StoredDue<unknown>, "place">,
  now: Date,
): "hint" | "hint_again" | "wait" {
  if (Date.parse(dueAt) > now.getTime() + AHEAD_MS) return "wait";
  if (hintedAt === null) return "hint";
  const since = Math.max(Date.parse(dueAt), Date.parse(hintedAt));
  const patienceMs = Math.min(HINT_LOST_MS * 2 ** lost, HINT_LOST_MS_MAX);
  return now.getTime() - since > patienceMs ? "hint_again" : "wait";
}

/** True when the row needs no other look in its minute. */
async function attend<Place>(
  services: Services,
  { store, hint }: DueWork<Place>,
  due: StoredDue<Place>,
  now: Date,
): Promise<boolean> {
  try {
    switch (needOf(due, now)) {
      case "hint": {
        await hint(due, (Date.parse(due.dueAt) - now.getTime()) / 1000);
        await store.markHinted(due, now);
        return false;
      }
      case "hint_again":
        await hint(await store.moveUp(due, now), 0);
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
export async function hintIfSoon<Place>(
  services: Services,
  { store, hint }: DueWork<Place>,
  due: Due<Place>,
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
async function enqueueMinute<Place>(
  services: Services,
  work: DueWork<Place>,
  minute: string,
  now: Date,
): Promise<boolean> {
  let isDone = true;
  let after: string | undefined;
  do {
    const { dues, next } = await work.store.listMinute(minute, after);
    for (let index = 0; index < dues.length; index += SENDS_AT_ONCE) {
      const batch = dues.slice(index, index + SENDS_AT_ONCE);
      const done = await Promise.all(batch.map((due) => attend(services, work, due, now)));
      isDone &&= done.every(Boolean);
    }
    after = next;
  } while (after !== undefined);
  return isDone;
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
export async function enqueueDue<Place>(services: Services, work: DueWork<Place>): Promise<void> {
  const startedAt = Date.now();
  const now = services.clock.now();
  const minutes = await work.store.minutes(now, AHEAD_MS, MINUTES_MAX);
  let isUnbroken = true;
  for (let index = 0; index < minutes.length; index += MINUTES_AT_ONCE) {
    const batch = minutes.slice(index, index + MINUTES_AT_ONCE);
    const done = await Promise.all(
      batch.map((minute) => enqueueMinute(services, work, minute, now)),
    );
    const through = isUnbroken ? batch[unbroken(done) - 1] : undefined;
    if (through !== undefined) await work.store.advance(through, now);
    isUnbroken &&= done.every(Boolean);
    if (Date.now() - startedAt > RUN_MS_MAX) return;
  }
}
