import type { TakeStep } from "../runtime/walk-step.ts";
import type { WakeDeps } from "./deps.ts";
import { overWakes } from "./over-wakes.ts";
import { minuteOf, type StoredWake, type Wake } from "./wake-store.ts";

/**
 * How far ahead hints are sent: their delay makes the work exact to the second. It is nearly two runs of the timer, so
 * that a run whose hints are refused delays nothing: the next one is still in time. Two whole runs would have each run
 * read one minute more.
 */
const AHEAD_MS = 118_000;
/** A hint that had no effect this long after its work was due was lost; each further one gets twice the time. */
const HINT_LOST_MS = 60_000;
const HINT_LOST_MS_MAX = 15 * 60_000;
/** Hints for one platform's work that is due at once are spaced at this rate, after the first few: others' fit in between. */
const PLATFORM_FREE = 50;
const PLATFORM_MS = 20;

/** A kind of wakes for which hints are sent. */
export interface HintedWakes {
  readonly kind: "post" | "endpoint";
  readonly what: string;
  readonly hint: (wake: Wake, delaySeconds: number) => Promise<void>;
}

/** Returns whether the timer might look too late, so that the process that writes the row has to send the hint. */
export function isSoon({ at }: Pick<Wake, "at">, now: Date): boolean {
  return Date.parse(at) - now.getTime() <= AHEAD_MS;
}

/** Decides what a row needs now: a first hint, another one because the last was lost, or nothing yet. */
export function needOf(
  wake: Pick<StoredWake, "at" | "hintedAt" | "lost">,
  now: Date,
): "hint" | "hint_again" | "wait" {
  const { at, hintedAt, lost } = wake;
  if (!isSoon(wake, now)) return "wait";
  if (hintedAt === null) return "hint";
  const since = Math.max(Date.parse(at), Date.parse(hintedAt));
  const patienceMs = Math.min(HINT_LOST_MS * 2 ** lost, HINT_LOST_MS_MAX);
  return now.getTime() - since > patienceMs ? "hint_again" : "wait";
}

/**
 * Spaces the hints of a run. Returns the seconds after which the hint of a row is to be seen: when it is due, or after
 * those of its platform that came before.
 */
function spacing(): (wake: Wake, now: Date) => number {
  const nextAt = new Map<string, number>();
  return (wake, now) => {
    const dueAt = Math.max(now.getTime(), Date.parse(wake.at));
    if (wake.platformId === "") return (dueAt - now.getTime()) / 1000;
    const key = `${wake.platformId}|${minuteOf(dueAt)}`;
    const at = Math.max(nextAt.get(key) ?? 0, dueAt - PLATFORM_FREE * PLATFORM_MS) + PLATFORM_MS;
    nextAt.set(key, at);
    return (Math.max(dueAt, at) - now.getTime()) / 1000;
  };
}

/**
 * Makes the steps that send a hint for every row that is due soon or was missed. A crash between a hint and its note
 * costs one hint more, and a hint that can't be sent leaves the row as it is, for the next run.
 */
export function hintWakes(deps: WakeDeps, { kind, what, hint }: HintedWakes): TakeStep {
  const { clock, log, wakes } = deps;
  const secondsOf = spacing();
  return overWakes(deps, {
    kind,
    what,
    aheadMs: AHEAD_MS,
    isWanted: (wake, now) => needOf(wake, now) !== "wait",
    async visit(wake) {
      const now = clock.now();
      const seconds = secondsOf(wake, now);
      try {
        await hint(wake, seconds);
        const seenAt = new Date(now.getTime() + seconds * 1000);
        await wakes.noteHint(wake, seenAt, wake.hintedAt === null ? 0 : wake.lost + 1);
      } catch (error) {
        log.error("due work not hinted", { due: wake.id, error });
      }
    },
  });
}

/** Sends the hint of work that was written so late that the timer might miss it. A lost hint costs only time. */
export async function hintIfSoon(
  { clock, log, wakes }: WakeDeps,
  { hint }: HintedWakes,
  wake: Wake,
): Promise<void> {
  const now = clock.now();
  if (!isSoon(wake, now)) return;
  try {
    await hint(wake, (Date.parse(wake.at) - now.getTime()) / 1000);
  } catch (error) {
    log.warn("hint not sent, the timer will", { due: wake.id, error });
    try {
      await wakes.add(wake, now);
    } catch (failure) {
      // The row waits then as it does for a hint that had no effect.
      log.warn("a hint that was not sent could not be noted", { due: wake.id, error: failure });
    }
  }
}
