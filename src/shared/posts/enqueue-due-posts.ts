import type { Services } from "../services.ts";
import type { Due, StoredDue } from "./due-store.ts";

/** How far ahead hints are sent: their delay makes firing exact to the second. */
const AHEAD_MS = 90_000;
const RUN_MS_MAX = 45_000;
/** A day of missed minutes in one run, at most. */
const MINUTES_MAX = 1_500;
/** A hint that had no effect this long after its post was due was lost. */
const HINT_LOST_MS = 60_000;
const SENDS_AT_ONCE = 16;

/** What a row needs now: a hint, another minute because its hint was lost, or patience. */
function nextOf({ dueAt, hintedAt }: StoredDue, now: Date): "hint" | "move" | "wait" {
  if (Date.parse(dueAt) > now.getTime() + AHEAD_MS) return "wait";
  if (hintedAt === null) return "hint";
  const since = Math.max(Date.parse(dueAt), Date.parse(hintedAt));
  return now.getTime() - since > HINT_LOST_MS ? "move" : "wait";
}

/** True when the row needs no other look in its minute. */
async function attend(services: Services, due: StoredDue, now: Date): Promise<boolean> {
  try {
    switch (nextOf(due, now)) {
      case "hint": {
        const seconds = (Date.parse(due.dueAt) - now.getTime()) / 1000;
        await services.fireQueue.hint(due, seconds);
        await services.due.markHinted(due, now);
        return false;
      }
      case "move":
        // Into the present, so that one stubborn post can't hold the watermark back.
        await services.due.add({ place: due.place, dueAt: now.toISOString() }, now);
        await services.due.remove(due);
        return true;
      case "wait":
        return false;
    }
  } catch (error) {
    services.log.error("due post not hinted", { postId: due.place.postId, error });
    return false;
  }
}

/**
 * For a post that is stored or moved so close to its time that the timer might look too late: the hint goes out at
 * once. Its loss costs only time.
 */
export async function hintIfSoon(services: Services, due: Due): Promise<void> {
  const aheadMs = Date.parse(due.dueAt) - services.clock.now().getTime();
  if (aheadMs > AHEAD_MS) return;
  try {
    await services.fireQueue.hint(due, aheadMs / 1000);
  } catch (error) {
    services.log.warn("hint not sent, the timer will", { postId: due.place.postId, error });
  }
}

/** Hints a minute's posts. True when none is left in it: a post that fired has removed its row. */
async function enqueueMinute(services: Services, minute: string, now: Date): Promise<boolean> {
  let isDone = true;
  let after: string | undefined;
  do {
    const { dues, next } = await services.due.listMinute(minute, after);
    for (let index = 0; index < dues.length; index += SENDS_AT_ONCE) {
      const batch = dues.slice(index, index + SENDS_AT_ONCE);
      const done = await Promise.all(batch.map((due) => attend(services, due, now)));
      isDone &&= done.every(Boolean);
    }
    after = next;
  } while (after !== undefined);
  return isDone;
}

/**
 * Sends a hint for every post that is due soon or was missed. Idempotent; safe when missed, doubled or late: the
 * watermark moves only over minutes that were read to their end and have no row left.
 */
export async function enqueueDuePosts(services: Services): Promise<void> {
  const startedAt = Date.now();
  const now = services.clock.now();
  let isUnbroken = true;
  for (const minute of await services.due.minutes(now, AHEAD_MS, MINUTES_MAX)) {
    isUnbroken = (await enqueueMinute(services, minute, now)) && isUnbroken;
    if (isUnbroken) await services.due.advance(minute, now);
    if (Date.now() - startedAt > RUN_MS_MAX) return;
  }
}
