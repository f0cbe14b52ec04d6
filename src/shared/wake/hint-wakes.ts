import type { TakeStep } from "../runtime/walk-step.ts";
import type { WakeDeps } from "./deps.ts";
import { walkWakes } from "./walk-wakes.ts";
import { minuteOf, type StoredWake, type Wake } from "./wake-store.ts";

/**
 * How far ahead hints are sent. Their delay makes the work start at the exact second. This is nearly two runs of the
 * timer: when a run can't send its hints, the next one is still in time. With two whole runs, each run would read one
 * minute more.
 */
const AHEAD_MS = 118_000;
/** A hint without effect this long after its work was due was lost. The time doubles with each further hint. */
const HINT_LOST_MS = 60_000;
const HINT_LOST_MS_MAX = 15 * 60_000;
/** How many hints of one platform's due work are sent without spacing. Others' hints fit in between later ones. */
const PLATFORM_FREE = 50;
const PLATFORM_MS = 20;

/** A kind of wakes for which hints are sent. */
export interface HintedWakes {
  readonly kind: "post" | "endpoint";
  readonly what: string;
  readonly hint: (wake: Wake, delaySeconds: number) => Promise<void>;
}

/**
 * Reports whether the timer may check too late, so that the process that writes the row has to send the hint itself.
 */
export function isSoon({ at }: Pick<Wake, "at">, now: Date): boolean {
  return Date.parse(at) - now.getTime() <= AHEAD_MS;
}

/** Decides what a row needs now: a first hint, another hint because the last was lost, or nothing yet. */
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
 * Spaces the hints of a run. Returns the delay of a row's hint in seconds: until the row is due, or until after the
 * earlier hints of its platform.
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
 * Makes the steps that send a hint for every row that is due soon or was missed. A crash between sending a hint and
 * noting it costs one more hint. A hint that can't be sent leaves the row unchanged for the next run.
 */
export function hintWakes(deps: WakeDeps, { kind, what, hint }: HintedWakes): TakeStep {
  const { clock, log, wakes } = deps;
  const secondsOf = spacing();
  return walkWakes(deps, {
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
      // The row then waits as after a hint that had no effect.
      log.warn("a hint that was not sent could not be noted", { due: wake.id, error: failure });
    }
  }
}
