import type { Log } from "./log.ts";

/** The state of a walk at the beginning of a step. */
export interface WalkAt<Position = unknown> {
  /** Where the last step ended. It is undefined at the beginning of a round. */
  readonly position: Position | undefined;
  readonly roundAt: Date;
  /** Counts of this round so far, and of the whole previous round. */
  readonly counts: WalkCounts;
  readonly lastCounts: WalkCounts;
  /** How many runs in a row have failed at this position. */
  readonly failures: number;
  /** Reports whether the step has to end. Its time is a few seconds. */
  isTimeUp(): boolean;
}

export type WalkCounts = Readonly<Record<string, number>>;

export interface WalkStep<Position = unknown> {
  /** Where the next step continues, stored as JSON. It is undefined at the end of the round. */
  readonly next: Position | undefined;
  /** Counts to add to those of the round. */
  readonly counts?: WalkCounts;
  /** Leaves the rest of the round to the next scheduled run. */
  readonly rests?: boolean;
}

/**
 * Does a limited part of a walk, within seconds. A step may be repeated, even by two processes at the same time, and
 * may be interrupted anywhere.
 */
export type TakeStep = (at: WalkAt) => Promise<WalkStep>;

/** Gives the steps of a walk a typed position. */
export function stepsWith<Position>(
  take: (at: WalkAt<Position>) => Promise<WalkStep<Position>>,
): TakeStep {
  // Safe: a walk gets the positions that its own steps returned.
  return take as TakeStep;
}

interface WalkItem {
  readonly id: string;
  readonly after: string;
}

/** The result of processing one item. */
export interface ItemResult<Rest = string> {
  readonly counts?: WalkCounts;
  /** Where to continue with the item, if one call did not finish it. */
  readonly rest?: Rest | undefined;
}

export interface RemovedPage<Position = string> {
  readonly removed: number;
  /** Where the next page begins. It is undefined at the end. */
  readonly next: Position | undefined;
}

/** A walk over items of many owners. No owner may delay the others. */
export interface ItemWalk<Rest = string> {
  readonly log: Log;
  /** The walk's name in the log when an item fails. */
  readonly what: string;
  /** Reads a page in a fixed order, after a position that an item or a page has named. */
  page(
    after: string | undefined,
  ): Promise<{ readonly items: readonly WalkItem[]; readonly next: string | undefined }>;
  look(id: string, at: WalkAt, rest: Rest | undefined): Promise<ItemResult<Rest>>;
}

const LOOKS_AT_ONCE = 32;
/** Maximum number of unfinished items. No new items are started above it. */
const LATER_MAX = 50;
/** This many failures without a success count as an outage, not as errors of the items. The walk then waits. */
const OUTAGE_LOOKS = 4;
const OUTAGE_FAILURES_MAX = 3;

interface StepPosition<Rest> {
  readonly after?: string | undefined;
  /** Whether all items were started. The unfinished ones are in `later`. */
  readonly isAtEnd?: boolean;
  readonly later: readonly UnfinishedItem<Rest>[];
}

type UnfinishedItem<Rest> = readonly [id: string, rest: Rest];

export function addCounts(left: WalkCounts, right: WalkCounts = {}): WalkCounts {
  const sum: Record<string, number> = { ...left };
  for (const [name, count] of Object.entries(right)) sum[name] = (sum[name] ?? 0) + count;
  return sum;
}

/**
 * Processes items, several at a time, until all were started or the step's time is over. Items that fail are logged and
 * counted. Returns the counts, and how many items were started from the beginning of the list.
 * @throws AggregateError when every item failed, which is taken for an outage and waited for up to three times
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
    // The first items are always started, so that a run makes progress even without time left.
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

/** Processes items and collects those that have to be continued. */
async function lookAtItems<Rest>(
  walk: ItemWalk<Rest>,
  at: WalkAt,
  items: readonly { readonly id: string; readonly rest?: Rest }[],
) {
  const later: UnfinishedItem<Rest>[] = [];
  const looks = await lookAtAll(walk, at, items, async (item) => {
    const { counts, rest } = await walk.look(item.id, at, item.rest);
    if (rest !== undefined) later.push([item.id, rest]);
    return counts;
  });
  return { ...looks, later };
}

/**
 * Makes the step of a walk over items. It processes several at a time. Items that fail are logged, counted and skipped,
 * and an unfinished item is continued after all others. A step in which every item fails throws, so that an outage
 * skips nothing.
 */
export function overItems<Rest = string>(walk: ItemWalk<Rest>): TakeStep {
  return stepsWith<StepPosition<Rest>>(async (at) => {
    const position: StepPosition<Rest> = at.position ?? { later: [] };
    if (position.isAtEnd === true || position.later.length >= LATER_MAX) {
      const unfinished = position.later.map(([id, rest]) => ({ id, rest }));
      const { counts, begun, later } = await lookAtItems(walk, at, unfinished);
      // Items that were not processed go first.
      const left = [...position.later.slice(begun), ...later];
      const isOver = position.isAtEnd === true && left.length === 0;
      return { next: isOver ? undefined : { ...position, later: left }, counts };
    }
    const { items, next } = await walk.page(position.after);
    const { counts, begun, later } = await lookAtItems(walk, at, items);
    const all = [...position.later, ...later];
    const after = begun < items.length ? items[begun - 1]?.after : next;
    if (after !== undefined) return { next: { after, later: all }, counts };
    return { next: all.length === 0 ? undefined : { isAtEnd: true, later: all }, counts };
  });
}
