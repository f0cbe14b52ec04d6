import type { Log } from "./log.ts";

/** Where a shard of a walk stands when a step begins. */
export interface WalkAt {
  readonly shard: number;
  readonly shards: number;
  /** Where the step before ended; undefined at the beginning of a round. */
  readonly position: string | undefined;
  readonly roundAt: Date;
  /** What this round has counted so far, and what the whole round before counted. */
  readonly counts: WalkCounts;
  readonly lastCounts: WalkCounts;
  /** How many runs in a row ended with an error here. */
  readonly failures: number;
  /** Whether the step has to end, after some seconds at most: one that could go on returns then. */
  isTimeUp(): boolean;
}

export type WalkCounts = Readonly<Record<string, number>>;

/** What came of a step. */
export interface WalkStep {
  /** Where the next step goes on; undefined at the end of the round. */
  readonly next: string | undefined;
  /** Added to what the round has counted. */
  readonly counts?: WalkCounts;
  /** Leaves the rest of the round to the next time that the schedule names. */
  readonly rests?: boolean;
}

/**
 * Does a bounded piece of a walk: seconds, never minutes. It may be repeated, by two processes at once too, and end
 * anywhere.
 */
export type TakeStep = (at: WalkAt) => Promise<WalkStep>;

/** Something that a walk looks at. */
export interface WalkItem {
  readonly id: string;
  /** The position after it. */
  readonly after: string;
}

/** What is to be done for one item in one look. */
export interface Looked {
  readonly counts?: WalkCounts;
  /** Where the next look at the same item goes on, when there is more to do than one look may take. */
  readonly rest?: string | undefined;
}

/** A walk over items of many owners, none of which may hold up the others. */
export interface ItemWalk {
  readonly log: Log;
  /** Named in the log when a look fails. */
  readonly what: string;
  /** Reads a page in a fixed order, from after a position that an item or a page named. */
  page(
    at: WalkAt,
    after: string | undefined,
  ): Promise<{ readonly items: readonly WalkItem[]; readonly next: string | undefined }>;
  look(id: string, at: WalkAt, rest: string | undefined): Promise<Looked>;
}

const LOOKS_AT_ONCE = 8;
/** Items that wait for another look; with more of them no new ones are begun. */
const LATER_MAX = 50;
/** So many failures without a success are an outage, which is waited for, and not the fault of the items. */
const OUTAGE_LOOKS = 4;
const OUTAGE_FAILURES_MAX = 3;

interface Position {
  readonly after?: string;
  /** The items were all begun: what is left stands in `later`. */
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
  /** How many were begun: all that lead, none behind them. */
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
    // The first ones always: a run that finds its time up goes on all the same.
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
  // Those that were looked at go behind those that were not.
  const rest = [...position.later.slice(begun), ...later];
  const isOver = position.isAtEnd === true && rest.length === 0;
  return { next: isOver ? undefined : JSON.stringify({ ...position, later: rest }), counts };
}

/**
 * Makes the step of a walk over items: several are looked at side by side, one that fails is logged, counted and passed
 * over, and one with much to do is looked at again after all others. When a step finds nothing but failures it fails
 * itself, so that an outage does not pass over everybody.
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

/** Says whether an item is its shard's: by a hash that is the same for good. */
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
