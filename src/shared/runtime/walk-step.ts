import type { Log } from "./log.ts";

/** The state of a walk when a step begins. */
export interface WalkAt<Position = unknown> {
  /** Where the step before ended; undefined at the beginning of a round. */
  readonly position: Position | undefined;
  readonly roundAt: Date;
  /** Counts of this round so far, and of the whole previous round. */
  readonly counts: WalkCounts;
  readonly lastCounts: WalkCounts;
  /** How many runs in a row ended with an error here. */
  readonly failures: number;
  /** Returns whether the step has to end, which is after a few seconds. */
  isTimeUp(): boolean;
}

export type WalkCounts = Readonly<Record<string, number>>;

/** The result of a step. */
export interface WalkStep<Position = unknown> {
  /** Where the next step continues, which is stored as JSON; undefined at the end of the round. */
  readonly next: Position | undefined;
  /** Added to what the round has counted. */
  readonly counts?: WalkCounts;
  /** Leaves the rest of the round to the next time of the schedule. */
  readonly rests?: boolean;
}

/**
 * Does a bounded part of a walk, of seconds and not minutes. It may be repeated, also by two processes at once, and end
 * anywhere.
 */
export type TakeStep = (at: WalkAt) => Promise<WalkStep>;

/** Makes the steps of a walk whose positions have a type. */
export function stepsWith<Position>(
  take: (at: WalkAt<Position>) => Promise<WalkStep<Position>>,
): TakeStep {
  // Safe: a walk gets the positions that its own steps returned.
  return take as TakeStep;
}

/** An item of a walk. */
interface WalkItem {
  readonly id: string;
  /** The position after it. */
  readonly after: string;
}

/** The result of processing one item. */
export interface Looked<Rest = string> {
  readonly counts?: WalkCounts;
  /** Where processing the item continues when one call did not finish it. */
  readonly rest?: Rest | undefined;
}

/** What removing a page of rows came to. */
export interface RemovedPage<Position = string> {
  readonly removed: number;
  /** Where the next page begins; undefined at the end. */
  readonly next: Position | undefined;
}

/** A walk over items of many owners, none of which may delay the others. */
export interface ItemWalk<Rest = string> {
  readonly log: Log;
  /** The walk's name in the log when an item fails. */
  readonly what: string;
  /** Reads a page in a fixed order, from after a position that an item or a page named. */
  page(
    after: string | undefined,
  ): Promise<{ readonly items: readonly WalkItem[]; readonly next: string | undefined }>;
  look(id: string, at: WalkAt, rest: Rest | undefined): Promise<Looked<Rest>>;
}

const LOOKS_AT_ONCE = 32;
/** Unfinished items; with more of them, no new ones are begun. */
const LATER_MAX = 50;
/** This many failures without a success are an outage, which is waited for, and not caused by the items. */
const OUTAGE_LOOKS = 4;
const OUTAGE_FAILURES_MAX = 3;

interface Position<Rest> {
  readonly after?: string | undefined;
  /** Whether all items were begun; unfinished ones are in `later`. */
  readonly isAtEnd?: boolean;
  readonly later: readonly Unfinished<Rest>[];
}

type Unfinished<Rest> = readonly [id: string, rest: Rest];

export function addCounts(left: WalkCounts, right: WalkCounts = {}): WalkCounts {
  const sum: Record<string, number> = { ...left };
  for (const [name, count] of Object.entries(right)) sum[name] = (sum[name] ?? 0) + count;
  return sum;
}

/**
 * Looks at items, many at once, until all were begun or the step's time is over. Logs and counts those that fail. Returns
 * the counts, and how many were begun, from the first on. @throws AggregateError when nothing but failures came of it: an
 * outage, which is waited for three times
 */
export async function lookAtAll<Item extends { readonly id: string }>(
  { log, what }: Pick<ItemWalk, "log" | "what">,
  at: WalkAt,
  items: readonly Item[],
  look: (item: Item) => Promise<WalkCounts | undefined>,
): Promise<{ readonly counts: WalkCounts; readonly begun: number }> {
  let counts: WalkCounts = {};
  let begun = 0;
  const errors: unknown[] = [];
  const lookOn = async (): Promise<void> => {
    // The first ones are always begun, so that a run without time left makes progress.
    for (;;) {
      const item = begun < LOOKS_AT_ONCE || !at.isTimeUp() ? items[begun] : undefined;
      if (item === undefined) return;
      begun += 1;
      try {
        const found = await look(item);
        counts = addCounts(counts, found);
      } catch (error) {
        log.error("an item of a walk failed", { walk: what, item: item.id, error });
        errors.push(error);
      }
    }
  };
  await Promise.all(Array.from({ length: LOOKS_AT_ONCE }, lookOn));
  const isOutage = errors.length >= OUTAGE_LOOKS && errors.length === begun;
  if (isOutage && at.failures < OUTAGE_FAILURES_MAX)
    throw new AggregateError(errors, `nothing of ${what} could be looked at`);
  const failed = errors.length > 0 && { failed: errors.length };
  return { counts: addCounts(counts, { looked: begun, ...failed }), begun };
}

/** Looks at items, and collects those that are to be continued. */
async function lookAtItems<Rest>(
  walk: ItemWalk<Rest>,
  at: WalkAt,
  items: readonly { readonly id: string; readonly rest?: Rest }[],
) {
  const later: Unfinished<Rest>[] = [];
  const looks = await lookAtAll(walk, at, items, async (item) => {
    const { counts, rest } = await walk.look(item.id, at, item.rest);
    if (rest !== undefined) later.push([item.id, rest]);
    return counts;
  });
  return { ...looks, later };
}

async function stepOverLater<Rest>(
  walk: ItemWalk<Rest>,
  at: WalkAt,
  position: Position<Rest>,
): Promise<WalkStep<Position<Rest>>> {
  const items = position.later.map(([id, rest]) => ({ id, rest }));
  const { counts, begun, later } = await lookAtItems(walk, at, items);
  // Processed items go after those that were not.
  const left = [...position.later.slice(begun), ...later];
  const isOver = position.isAtEnd === true && left.length === 0;
  return { next: isOver ? undefined : { ...position, later: left }, counts };
}

/**
 * Makes the step of a walk over items. Processes several at once; logs, counts and skips one that fails, and continues
 * an unfinished one after all others. A step of which every item fails throws, so that an outage skips nothing.
 */
export function overItems<Rest = string>(walk: ItemWalk<Rest>): TakeStep {
  return stepsWith<Position<Rest>>(async (at) => {
    const position: Position<Rest> = at.position ?? { later: [] };
    if (position.isAtEnd === true || position.later.length >= LATER_MAX)
      return stepOverLater(walk, at, position);
    const { items, next } = await walk.page(position.after);
    const { counts, begun, later } = await lookAtItems(walk, at, items);
    const all = [...position.later, ...later];
    const after = begun < items.length ? items[begun - 1]?.after : next;
    if (after !== undefined) return { next: { after, later: all }, counts };
    return { next: all.length === 0 ? undefined : { isAtEnd: true, later: all }, counts };
  });
}
