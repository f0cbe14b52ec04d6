import type { Log } from "./log.ts";

/** The state of a walk's shard when a step begins. */
export interface WalkAt {
  readonly shard: number;
  readonly shards: number;
  /** Where the step before ended; undefined at the beginning of a round. */
  readonly position: string | undefined;
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
export interface WalkStep {
  /** Where the next step continues; undefined at the end of the round. */
  readonly next: string | undefined;
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

/** An item of a walk. */
export interface WalkItem {
  readonly id: string;
  /** The position after it. */
  readonly after: string;
}

/** The result of processing one item. */
export interface Looked {
  readonly counts?: WalkCounts;
  /** Where processing the item continues when one call did not finish it. */
  readonly rest?: string | undefined;
}

/** A walk over items of many owners, none of which may delay the others. */
export interface ItemWalk {
  readonly log: Log;
  /** The walk's name in the log when an item fails. */
  readonly what: string;
  /** Reads a page in a fixed order, from after a position that an item or a page named. */
  page(
    at: WalkAt,
    after: string | undefined,
  ): Promise<{ readonly items: readonly WalkItem[]; readonly next: string | undefined }>;
  look(id: string, at: WalkAt, rest: string | undefined): Promise<Looked>;
}

const LOOKS_AT_ONCE = 8;
/** Unfinished items; with more of them, no new ones are begun. */
const LATER_MAX = 50;
/** This many failures without a success are an outage, which is waited for, and not caused by the items. */
const OUTAGE_LOOKS = 4;
const OUTAGE_FAILURES_MAX = 3;

interface Position {
  readonly after?: string;
  /** Whether all items were begun; unfinished ones are in `later`. */
  readonly isAtEnd?: boolean;
  readonly later: readonly (readonly [id: string, rest: string])[];
}

const START: Position = { later: [] };

/** Adds up counts. */
export function addCounts(left: WalkCounts, right: WalkCounts = {}): WalkCounts {
  const sum: Record<string, number> = { ...left };
  for (const [name, count] of Object.entries(right)) sum[name] = (sum[name] ?? 0) + count;
  return sum;
}

interface Looks {
  counts: WalkCounts;
  errors: unknown[];
  /** How many were begun, from the first on. */
  begun: number;
  readonly later: (readonly [id: string, rest: string])[];
}

async function lookAt(
  walk: ItemWalk,
  at: WalkAt,
  items: readonly { readonly id: string; readonly rest?: string }[],
): Promise<Looks> {
  const looks: Looks = { counts: {}, errors: [], begun: 0, later: [] };
  const lookOn = async (): Promise<void> => {
    // The first ones are always begun, so that a run without time left makes progress.
    for (;;) {
      const item = looks.begun < LOOKS_AT_ONCE || !at.isTimeUp() ? items[looks.begun] : undefined;
      if (item === undefined) return;
      looks.begun += 1;
      try {
        const { counts, rest } = await walk.look(item.id, at, item.rest);
        looks.counts = addCounts(looks.counts, counts);
        if (rest !== undefined) looks.later.push([item.id, rest]);
      } catch (error) {
        walk.log.error("an item of a walk failed", { walk: walk.what, item: item.id, error });
        looks.errors.push(error);
      }
    }
  };
  await Promise.all(Array.from({ length: LOOKS_AT_ONCE }, lookOn));
  const isOutage = looks.errors.length >= OUTAGE_LOOKS && looks.errors.length === looks.begun;
  if (isOutage && at.failures < OUTAGE_FAILURES_MAX)
    throw new AggregateError(looks.errors, `nothing of ${walk.what} could be looked at`);
  const { length: failed } = looks.errors;
  looks.counts = addCounts(looks.counts, { looked: looks.begun, ...(failed > 0 && { failed }) });
  return looks;
}

async function stepOverLater(walk: ItemWalk, at: WalkAt, position: Position): Promise<WalkStep> {
  const items = position.later.map(([id, rest]) => ({ id, rest }));
  const { counts, begun, later } = await lookAt(walk, at, items);
  // Processed items go after those that were not.
  const rest = [...position.later.slice(begun), ...later];
  const isOver = position.isAtEnd === true && rest.length === 0;
  return { next: isOver ? undefined : JSON.stringify({ ...position, later: rest }), counts };
}

/**
 * Makes the step of a walk over items. Processes several at once; logs, counts and skips one that fails, and continues
 * an unfinished one after all others. A step of which every item fails throws, so that an outage skips nothing.
 */
export function overItems(walk: ItemWalk): TakeStep {
  return async (at) => {
    // Safe: positions come from here alone.
    const position = at.position === undefined ? START : (JSON.parse(at.position) as Position);
    if (position.isAtEnd === true || position.later.length >= LATER_MAX)
      return stepOverLater(walk, at, position);
    const { items, next } = await walk.page(at, position.after);
    const { counts, begun, later } = await lookAt(walk, at, items);
    const all = [...position.later, ...later];
    const after = begun < items.length ? items[begun - 1]?.after : next;
    if (after === undefined && all.length === 0) return { next: undefined, counts };
    const to: Position =
      after === undefined ? { isAtEnd: true, later: all } : { after, later: all };
    return { next: JSON.stringify(to), counts };
  };
}

/** Returns whether an item belongs to the shard, by a hash that never changes. */
export function isOfShard(
  id: string,
  { shard, shards }: Pick<WalkAt, "shard" | "shards">,
): boolean {
  let hash = 0x811c9dc5;
  for (let index = 0; index < id.length; index += 1)
    hash = Math.imul(hash ^ id.charCodeAt(index), 0x01000193) >>> 0;
  // The low bits of this hash alone would follow those of the characters.
  hash = Math.imul(hash ^ (hash >>> 15), 0x85ebca6b) >>> 0;
  return (hash >>> 16) % shards === shard;
}
