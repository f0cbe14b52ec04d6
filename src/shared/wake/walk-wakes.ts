import {
  addCounts,
  lookAtAll,
  stepsWith,
  type TakeStep,
  type WalkAt,
  type WalkCounts,
} from "../runtime/walk-step.ts";
import type { WakeDeps } from "./deps.ts";
import { minuteOf, type StoredWake, type WakeKind, type WakeRange } from "./wake-store.ts";

const MINUTE_MS = 60_000;
/** Rows younger than this are due now, and don't wait for older ones. */
const YOUNG_MS = 2 * MINUTE_MS;
/** A run with many old rows checks the rows that are due now again after this time. */
const PRESENT_AGAIN_MS = 20_000;

export interface WakeWalk {
  readonly kind: WakeKind;
  /** The walk's name in the log when a visit fails. */
  readonly what: string;
  /** How long before its time a row is visited. */
  readonly aheadMs: number;
  /** Reports whether a row needs a visit now. */
  isWanted(wake: StoredWake, now: Date): boolean;
  /** Visits a row. `listedAt` is when it was read, in milliseconds of `performance`. */
  visit(wake: StoredWake, listedAt: number): Promise<void>;
}

/** A position among rows: the page, and the last row of it that was visited. */
interface WakePosition {
  readonly page?: string | undefined;
  readonly last?: Pick<StoredWake, "at" | "id"> | undefined;
}

/**
 * Makes the steps of a walk over one kind of wakes. Every run first visits the rows that are due now. Then it continues
 * with the old rows, from where the last run stopped, so that old rows don't delay new ones.
 */
export function walkWakes(deps: WakeDeps, walk: WakeWalk): TakeStep {
  const { clock, wakes } = deps;

  /** Visits the rows of a page that need it. Returns the position after them, or undefined at the end of the range. */
  async function visitPage(at: WalkAt, range: WakeRange, { page, last }: WakePosition) {
    const listedAt = performance.now();
    const listed = await wakes.list(walk.kind, range, page);
    const now = clock.now();
    const rows = listed.wakes.filter(
      (wake) =>
        (last === undefined || wake.at > last.at || (wake.at === last.at && wake.id > last.id)) &&
        walk.isWanted(wake, now),
    );
    const { counts, begun } = await lookAtAll(
      { log: deps.log, what: walk.what },
      at,
      rows,
      (wake) => walk.visit(wake, listedAt).then(() => undefined),
    );
    const stopped = begun < rows.length ? rows[begun - 1] : undefined;
    if (stopped !== undefined)
      return { next: { page, last: { at: stopped.at, id: stopped.id } }, counts };
    return { next: listed.next === undefined ? undefined : { page: listed.next }, counts };
  }

  let present: WakePosition | undefined = {};
  let presentAt = -Infinity;

  /** Visits the rows that are due now, unless this run just did. Stops when time is up, but not before one visit. */
  async function visitPresent(at: WalkAt, youngest: number): Promise<WalkCounts> {
    let counts: WalkCounts = {};
    if (performance.now() - presentAt <= PRESENT_AGAIN_MS) return counts;
    present ??= {};
    const range = { from: minuteOf(youngest), to: minuteOf(clock.now().getTime() + walk.aheadMs) };
    do {
      const visited = await visitPage(at, range, present);
      present = visited.next;
      counts = addCounts(counts, visited.counts);
    } while (present !== undefined && (counts["looked"] === 0 || !at.isTimeUp()));
    if (present === undefined) presentAt = performance.now();
    return counts;
  }

  return stepsWith<WakePosition>(async (at) => {
    // Fixed for the whole round, so that every row is in one of the two ranges.
    const youngest = at.roundAt.getTime() - YOUNG_MS;
    const counts = await visitPresent(at, youngest);
    // Every step visits a few old rows, so that they make progress even when new rows never end.
    const old = await visitPage(at, { to: minuteOf(youngest - MINUTE_MS) }, at.position ?? {});
    const isOver = present === undefined && old.next === undefined;
    const next = isOver ? undefined : (old.next ?? at.position ?? {});
    return { next, counts: addCounts(counts, old.counts) };
  });
}
