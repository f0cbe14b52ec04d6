import type {
  PartitionDecision,
  PartitionOperation,
  PartitionView,
} from "../partition/partition.ts";
import { type Movement, walletWrites } from "../ledger/ledger.ts";
import { invariant } from "../runtime/errors.ts";
import type { RowWrite, StoredRow } from "../runtime/storage/row.ts";
import type { PublishingDeps } from "./deps.ts";
import { hint, NO_HINTS, hintsAfter, type HintsToSend } from "./hints.ts";
import { isBusy, isEnded, postStatus, type Leg } from "./leg.ts";
import { withPace, type Pace } from "./pace.ts";
import { withEvents } from "./post-events.ts";
import { indexChange } from "./post-index.ts";
import { postProgress, toLeg, toLegRow, toPost, toPostRow } from "./post-row.ts";
import {
  legKey,
  postKey,
  toWorkRow,
  workKey,
  type PostToPublish,
  type PostWithLegs,
  type StoredLeg,
} from "./post-store.ts";
import { postWake, postRefOf, type Post, type PostRef } from "./post.ts";

// The only writer of whole posts. A verb says what a post becomes; the rest follows from it: rows, events, when legs
// begin, the mark in the wake index, and hints. Between two such transactions a worker writes only the leg that it has
// claimed, through `PostStore`.

export interface CurrentPost {
  readonly post: Post;
  readonly etag: string;
  readonly legs: readonly StoredLeg[];
  readonly hasWork: boolean;
}

type NoWrite<Answer> = Exclude<PartitionDecision<Answer>, { readonly kind: "write" }>;

/** What a verb decides: what the post becomes, and the movements of tokens. */
export type PostDecision<Answer> =
  | {
      readonly kind: "change";
      readonly after: PostWithLegs;
      readonly movements?: readonly Movement[];
      /** Further rows of the transaction, such as those of the post's files. */
      readonly also?: readonly RowWrite[];
      readonly answer: Answer;
    }
  | NoWrite<Answer>;

/** The rows of a change, and the hints to send after it. */
interface PostWrite {
  readonly writes: readonly RowWrite[];
  readonly hints: HintsToSend;
}

/** The answer of a change, with the hints to send after it. There are none when another operation made the change. */
interface CommittedChange<Answer> {
  readonly result: Answer;
  readonly hints: HintsToSend;
}

export interface PostOperation<Answer> extends PartitionOperation<CommittedChange<Answer>> {
  readonly ref: PostRef;
  /** The time at which the post is to start, if the change sets it. */
  readonly dueAt: string | null;
}

interface PostChange<Answer> {
  /** Identifies this change. A repeat while it is running gets its answer. */
  readonly id: string;
  readonly known: Post;
  /**
   * A started post with all its legs, one of them open, if the caller has them as they were last written. They are only
   * read when the transaction finds that one of them has changed.
   */
  readonly stored?: PostToPublish;
  /** The time at which the post is to start, if the change sets it. */
  readonly dueAt?: string | null;
  /** Further rows that the decision reads. */
  readonly rowKeys?: readonly string[];
  /** Absent for a change that starts neither a leg nor a call of a post without work. */
  readonly pace?: Pace;
  /**
   * Decides the change. `current` is undefined if the post was changed after it was read, so that a decision about it
   * no longer counts.
   */
  decide(current: CurrentPost | undefined, view: PartitionView): PostDecision<Answer>;
}

function readPost(view: PartitionView, ref: PostRef, known: Post): CurrentPost | undefined {
  const stored = view.row(postKey(ref));
  invariant(stored !== undefined, "a post lost its row");
  const post = toPost(ref.platformId, stored.row);
  if (post.revision !== known.revision) return undefined;
  const { networks } = post.draft;
  const legs = networks.flatMap((network) => {
    const found = view.row(legKey(ref, network));
    return found === undefined ? [] : [{ leg: toLeg(found.row), etag: found.etag }];
  });
  invariant(legs.length === networks.length, "a post lost rows");
  const hasWork = view.row(workKey(ref.postId)) !== undefined;
  return { post, etag: stored.etag, legs, hasWork };
}

/** Returns the post with the state of its legs. `completedAt` is set once all have ended. */
export function progressed(post: Post, legs: readonly Leg[], now: Date): Post {
  const at = now.toISOString();
  const completedAt = legs.every(isEnded) ? at : null;
  return { ...post, status: postStatus(legs), updatedAt: at, completedAt };
}

/** Returns the post after a later call. Its state and its end don't change. */
export function touched(post: Post, now: Date): Post {
  return { ...post, updatedAt: now.toISOString() };
}

function legWrites(before: CurrentPost | undefined, { post, legs }: PostWithLegs): RowWrite[] {
  const ref = postRefOf(post);
  const stored = before?.legs ?? [];
  const gone = stored.filter(({ leg }) => legs.every(({ network }) => network !== leg.network));
  const writes = legs.flatMap((leg): RowWrite[] => {
    const row = toLegRow(legKey(ref, leg.network), leg);
    const earlier = stored.find((other) => other.leg.network === leg.network);
    if (earlier === undefined) return [{ kind: "create", row }];
    return earlier.leg === leg ? [] : [{ kind: "merge", row, etag: earlier.etag }];
  });
  const removed = gone.map(({ leg }): RowWrite => {
    return { kind: "delete", rowKey: legKey(ref, leg.network) };
  });
  return [...writes, ...removed];
}

/**
 * Returns what a change of a post writes (its row and those that list it, legs, work row, events, and the wallet with its
 * entries) and the hints to send after it.
 */
export function postWrite(
  before: CurrentPost | undefined,
  after: PostWithLegs,
  view: PartitionView,
  {
    pace,
    movements = [],
  }: {
    readonly pace?: Pace | undefined;
    readonly movements?: readonly Movement[] | undefined;
  },
): PostWrite {
  const known = before && { post: before.post, legs: before.legs.map(({ leg }) => leg) };
  const { nextCheckAt, legs, ...paced } = withPace(known?.legs ?? [], after.legs, view, pace);
  const told = withEvents(known, { post: after.post, legs }, view.now);
  const events = told.writes;
  const { indexed, writes: listings } = indexChange(before?.post, { post: told.post, legs });
  const post = { ...told.post, indexed };
  const ref = postRefOf(post);
  const rowKey = postKey(ref);
  let postRow: RowWrite = { kind: "create", row: toPostRow(rowKey, post) };
  if (before !== undefined) {
    // An edit has a new revision, and writes the whole row. Everything else writes the post's progress.
    const isEdit = before.post.revision !== post.revision;
    const row = isEdit ? toPostRow(rowKey, post) : { rowKey, ...postProgress(post) };
    postRow = { kind: "merge", row, etag: before.etag };
  }
  // The work row exists while a post that has started has work left.
  const hadWork = before?.hasWork === true;
  const hasWork = legs.some(isBusy);
  const work: RowWrite[] = [];
  if (hadWork && !hasWork) work.push({ kind: "delete", rowKey: workKey(post.id) });
  if (hasWork && !hadWork && nextCheckAt !== undefined)
    work.push({ kind: "create", row: toWorkRow({ ref, nextCheckAt, checks: 0 }) });
  return {
    writes: [
      postRow,
      ...listings,
      ...legWrites(before, { post, legs }),
      ...work,
      ...events,
      ...walletWrites(view, { movements, ...paced }),
    ],
    hints: hintsAfter(known, { post, legs }, events.length),
  };
}

/** Returns the rows of a post with work as storage has, or had, them. */
function rowsOf({ post, etag, legs }: PostToPublish): ReadonlyMap<string, StoredRow> {
  const ref = postRefOf(post);
  const rows: StoredRow[] = [
    { row: toPostRow(postKey(ref), post), etag },
    ...legs.map((stored) => ({
      row: toLegRow(legKey(ref, stored.leg.network), stored.leg),
      etag: stored.etag,
    })),
    // Its content decides nothing.
    { row: { rowKey: workKey(post.id) }, etag: "" },
  ];
  return new Map(rows.map((one) => [one.row.rowKey, one]));
}

/** Makes the transaction of a change. Every row that it depends on is read for it, or known to the caller. */
export function postOperation<Answer>(change: PostChange<Answer>): PostOperation<Answer> {
  const { id, known, stored, pace, dueAt = null, rowKeys = [] } = change;
  const ref = postRefOf(known);
  const legs = known.draft.networks.map((network) => legKey(ref, network));
  return {
    id,
    ref,
    dueAt,
    rowKeys: [postKey(ref), workKey(ref.postId), ...legs, ...rowKeys],
    ...(stored && { known: rowsOf(stored) }),
    decide(view, tried) {
      const current = readPost(view, ref, known);
      const decision = change.decide(current, view);
      if (decision.kind === "refuse") return decision;
      const { answer } = decision;
      if (decision.kind === "done")
        return { ...decision, answer: { result: answer, hints: tried?.answer.hints ?? NO_HINTS } };
      const { after, movements, also = [] } = decision;
      const { hints, writes } = postWrite(current, after, view, { pace, movements });
      invariant(hints.dueAt === null || hints.dueAt === dueAt, "a post is due without a row");
      return { kind: "write", writes: [...writes, ...also], answer: { result: answer, hints } };
    },
  };
}

/**
 * Commits a change of a post. Before it, marks the platform as having open work and writes the due row of a new start
 * time, so that a crash in between leaves at most a mark and a row without a post, and never a post that nobody finds.
 * After it, sends the hints. `by`: the post of a worker is open work before the commit, so that it needs no mark then;
 * and a worker itself sends one hint for the events of all its legs.
 */
export async function commitPost<Answer>(
  deps: PublishingDeps,
  operation: PostOperation<Answer>,
  by: "verb" | "worker" = "verb",
): Promise<Answer> {
  const { wakes, clock, stores } = deps;
  const { ref, dueAt } = operation;
  const now = clock.now();
  await Promise.all([
    by === "verb" ? wakes.mark("platform", ref.platformId, now) : undefined,
    dueAt === null ? undefined : wakes.add(postWake(ref, dueAt), now),
  ]);
  const { result: answer, hints } = await stores.partitions.commit(ref.platformId, operation);
  await hint(deps, ref, by === "worker" ? { ...hints, hasEvents: false } : hints);
  return answer;
}
