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
/** Rows younger than this are those of the present, which do not wait for older ones. */
const YOUNG_MS = 2 * MINUTE_MS;
/** A run that has much old work looks at the present again after this long. */
const PRESENT_AGAIN_MS = 20_000;

/** A walk over the rows of a kind. */
export interface WakeWalk {
  readonly kind: WakeKind;
  /** The walk's name in the log when a visit fails. */
  readonly what: string;
  /** How long before its time a row is visited. */
  readonly aheadMs: number;
  /** Returns whether a row needs a visit now. */
  isWanted(wake: StoredWake, now: Date): boolean;
  /** Visits a row. `listedAt`, in milliseconds of `performance`, is when it was read. */
  visit(wake: StoredWake, listedAt: number): Promise<void>;
}

/** A position among rows: the page, and the last row of it that was visited. */
interface Place {
  readonly page?: string | undefined;
  readonly last?: Pick<StoredWake, "at" | "id"> | undefined;
}

function isAfter(wake: StoredWake, last: Place["last"]): boolean {
  return last === undefined || wake.at > last.at || (wake.at === last.at && wake.id > last.id);
}

/**
 * Makes the steps of a walk over a kind of wakes. Every run looks at the rows of the present first, and then goes on
 * with the old ones from where the last run left them, so that what is due now does not wait for what was due before.
 */
export function overWakes(deps: WakeDeps, walk: WakeWalk): TakeStep {
  const { clock, wakes } = deps;

  /** Visits the rows of a page that need it. Returns the place after them; undefined at the end of the range. */
  async function visitPage(at: WalkAt, range: WakeRange, { page, last }: Place) {
    const listedAt = performance.now();
    const listed = await wakes.list(walk.kind, range, page);
    const now = clock.now();
    const rows = listed.wakes.filter((wake) => isAfter(wake, last) && walk.isWanted(wake, now));
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

  let present: Place | undefined = {};
  let presentAt = -Infinity;

  /** Visits the rows of the present, unless this run did so a moment ago. Ends early once time is over and one was visited. */
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

  return stepsWith<Place>(async (at) => {
    // Fixed for the round, so that no row is between the old ones and those of the present.
    const youngest = at.roundAt.getTime() - YOUNG_MS;
    const counts = await visitPresent(at, youngest);
    // A few old rows are visited by every step, so that they get their turns although the present never ends.
    const old = await visitPage(at, { to: minuteOf(youngest - MINUTE_MS) }, at.position ?? {});
    const isOver = present === undefined && old.next === undefined;
    const next = isOver ? undefined : (old.next ?? at.position ?? {});
    return { next, counts: addCounts(counts, old.counts) };
  });
}
