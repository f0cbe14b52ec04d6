import { type CoreDecision, type CoreOperation, type CoreView, paced } from "../core/core.ts";
import { invariant } from "../runtime/errors.ts";
import type { RowWrite, StoredRow } from "../runtime/storage/row.ts";
import type { PublishingDeps } from "./deps.ts";
import { calledLegs, startedLegs, hint, NO_HINTS, hintsAfter, type HintsToSend } from "./hints.ts";
import { isFinal, type LaterCall } from "./call.ts";
import { isBusy, isEnded, postStatus, startingAt, type Leg } from "./leg.ts";
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
import { postWake, refOf, type Post, type PostRef, hasStarted } from "./post.ts";
import { type EventType, eventWrite } from "../events/events.ts";
import { legRecord, postRecord } from "./read/post-view.ts";

interface PostEvent {
  readonly type: EventType;
  readonly leg?: Leg;
}

/** The events of a call that ended: done, or not. */
const CALL_EVENTS = {
  comment: ["comment.succeeded", "comment.failed"],
  remove: ["leg.removed", "leg.removal_failed"],
} as const satisfies Record<LaterCall["kind"], readonly [EventType, EventType]>;

function eventsOfCalls(earlier: Leg | undefined, leg: Leg): PostEvent[] {
  const known = new Set(earlier?.calls.filter(isFinal).map(({ key }) => key));
  return leg.calls
    .filter((call) => isFinal(call) && !known.has(call.key))
    .map(({ kind, state }) => ({ type: CALL_EVENTS[kind][state === "done" ? 0 : 1], leg }));
}

function eventsOfLegs(before: readonly Leg[], after: readonly Leg[]): PostEvent[] {
  return after.flatMap((leg): PostEvent[] => {
    const earlier = before.find(({ network }) => network === leg.network);
    const ofCalls = eventsOfCalls(earlier, leg);
    const isNew = isEnded(leg) && (earlier === undefined || !isEnded(earlier));
    if (!isNew || leg.status === "skipped") return ofCalls;
    const type = leg.status === "succeeded" ? "leg.succeeded" : "leg.failed";
    return [{ type, leg }, ...ofCalls];
  });
}

/**
 * Returns the event of the post itself: that of its new state, or of an edit. None when neither changed, or when a retry
 * makes it `processing` again.
 */
function eventsOfPost(before: Post | undefined, after: Post): PostEvent[] {
  const isRetry = before !== undefined && hasStarted(before) && after.status === "processing";
  if (isRetry) return [];
  if (before?.status !== after.status) return [{ type: `post.${after.status}` }];
  return before.revision === after.revision ? [] : [{ type: "post.updated" }];
}

/**
 * Returns the events of a change as rows of its transaction, and the post with its event sequence advanced: one for
 * each leg that ended, and one for the post's new state.
 */
function withEvents(
  change: {
    readonly before: { readonly post: Post; readonly legs: readonly Leg[] } | undefined;
    readonly post: Post;
    readonly legs: readonly Leg[];
  },
  now: Date,
): { readonly post: Post; readonly writes: readonly RowWrite[] } {
  const { before, legs } = change;
  const post = eventsOfPost(before?.post, change.post);
  // The post's own event comes first when it begins, and last when it ends.
  const ofLegs = eventsOfLegs(before?.legs ?? [], legs);
  const events = legs.every(isEnded) ? [...ofLegs, ...post] : [...post, ...ofLegs];
  const next = { ...change.post, eventSequence: change.post.eventSequence + events.length };
  const view = postRecord({ post: next, legs });
  const writes = events.map(({ type, leg }, index) =>
    eventWrite(
      {
        type,
        sequence: change.post.eventSequence + index + 1,
        applicationId: next.applicationId,
        profileId: next.profileId,
        postId: next.id,
        // The work under way is not the origin: a transaction has changes of several.
        origin: next,
        data:
          leg === undefined
            ? { post: view }
            : { post: view, leg: legRecord(next.draft, leg, undefined) },
      },
      now,
    ),
  );
  return { post: next, writes };
}

// The only writer of whole posts. A verb says what a post was and what it becomes; this module derives the rest: rows,
// events, when legs begin, the mark in the wake index, and hints. Between two such transactions a worker writes
// only the leg that it has claimed, through `PostStore`.

export interface CurrentPost {
  readonly post: Post;
  readonly etag: string;
  readonly legs: readonly StoredLeg[];
  readonly hasWork: boolean;
}

/** How many legs of a platform begin per second, and how soon the sweep checks on them. */
export interface Pace {
  readonly legsPerSecond: number;
  readonly workCheckSeconds: number;
}

type Write<Answer> = Extract<CoreDecision<Answer>, { readonly kind: "write" }>;
type NoWrite<Answer> = Exclude<CoreDecision<Answer>, { readonly kind: "write" }>;

/** What a verb decides: what the post becomes, and the movements of tokens. */
export type PostDecision<Answer> =
  | (Pick<Write<Answer>, "movements" | "answer"> & {
      readonly kind: "change";
      readonly after: PostWithLegs;
    })
  | NoWrite<Answer>;

/** The rows of a change, the platform's pace after it, and the hints to send after it. */
type PostWrite = Pick<Write<never>, "writes" | "paceUntil"> & { readonly hints: HintsToSend };

/** What a change of a post answers, with the hints to send after it: none where another operation made the change. */
interface Committed<Answer> {
  readonly answer: Answer;
  readonly hints: HintsToSend;
}

export interface PostOperation<Answer> extends CoreOperation<Committed<Answer>> {
  readonly ref: PostRef;
  /** The time at which the post is to start, where the change sets one. */
  readonly dueAt: string | null;
}

interface PostChange<Answer> {
  /** Names this very change. A repeat while it is under way gets its answer. */
  readonly id: string;
  readonly known: Post;
  /**
   * A started post with all its legs, one of them open, where the caller has them as they were last written: they are
   * read only when the transaction finds one of them changed.
   */
  readonly stored?: PostToPublish;
  /** The time at which the post is to start, where the change sets one. */
  readonly dueAt?: string | null;
  /** Absent for a change that starts neither a leg nor a call of a post without work. */
  readonly pace?: Pace;
  /**
   * Decides the change. `current` is undefined if the post was changed after it was read, so that a decision about it no
   * longer counts.
   */
  decide(current: CurrentPost | undefined, view: CoreView): PostDecision<Answer>;
}

function readPost(view: CoreView, ref: PostRef, known: Post): CurrentPost | undefined {
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

/** Returns the post after a call that follows its publication: its state and its end stay as they are. */
export function touched(post: Post, now: Date): Post {
  return { ...post, updatedAt: now.toISOString() };
}

/** Returns the write of a post's row: the whole row for an edit, which has a new revision, or else its progress. */
function rowWrite(before: CurrentPost | undefined, post: Post): RowWrite {
  const rowKey = postKey(refOf(post));
  if (before === undefined) return { kind: "create", row: toPostRow(rowKey, post) };
  const { etag } = before;
  if (before.post.revision !== post.revision)
    return { kind: "merge", row: toPostRow(rowKey, post), etag };
  return { kind: "merge", row: { rowKey, ...postProgress(post) }, etag };
}

function legWrites(before: CurrentPost | undefined, { post, legs }: PostWithLegs): RowWrite[] {
  const ref = refOf(post);
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

/** Returns the writes of the work row, which exists while something of a post that has started is left to do. */
function workWrites(
  before: CurrentPost | undefined,
  { post, legs }: PostWithLegs,
  nextCheckAt: string | undefined,
): RowWrite[] {
  const hasWork = before?.hasWork === true;
  if (!legs.some(isBusy)) return hasWork ? [{ kind: "delete", rowKey: workKey(post.id) }] : [];
  if (hasWork || nextCheckAt === undefined) return [];
  return [{ kind: "create", row: toWorkRow({ ref: refOf(post), nextCheckAt, checks: 0 }) }];
}

interface PacedLegs {
  readonly legs: readonly Leg[];
  readonly paceUntil?: string;
  /** When the sweep first checks what begins; absent when nothing does. */
  readonly nextCheckAt?: string;
}

/** Returns the legs, with a start time at the platform's pace for those that this change starts. */
function withPace(
  before: readonly Leg[],
  after: readonly Leg[],
  { wallet, now }: CoreView,
  pace: Pace | undefined,
): PacedLegs {
  const begun = startedLegs(before, after);
  const checkAfter = (ms: number, { workCheckSeconds }: Pace) =>
    new Date(ms + workCheckSeconds * 1000).toISOString();
  if (begun.length === 0) {
    const isCalled = pace !== undefined && calledLegs(before, after).length > 0;
    return { legs: after, ...(isCalled && { nextCheckAt: checkAfter(now.getTime(), pace) }) };
  }
  invariant(pace !== undefined, "legs begin at no pace");
  const { paceUntil, startAt } = paced(wallet, begun.length, now, pace.legsPerSecond);
  const legs = after.map((leg) => (begun.includes(leg) ? startingAt(leg, startAt) : leg));
  const startMs = startAt === null ? now.getTime() : Date.parse(startAt);
  return { legs, paceUntil, nextCheckAt: checkAfter(startMs, pace) };
}

/** Returns what a change of a post writes (its row, its legs', the work row, its events) and the hints for after it. */
export function postWrite(
  before: CurrentPost | undefined,
  after: PostWithLegs,
  view: CoreView,
  pace?: Pace,
): PostWrite {
  const known = before && { post: before.post, legs: before.legs.map(({ leg }) => leg) };
  const { nextCheckAt, ...begun } = withPace(known?.legs ?? [], after.legs, view, pace);
  const { legs, ...wallet } = begun;
  const { post, writes: events } = withEvents({ before: known, post: after.post, legs }, view.now);
  return {
    ...wallet,
    writes: [
      rowWrite(before, post),
      ...legWrites(before, { post, legs }),
      ...workWrites(before, { post, legs }, nextCheckAt),
      ...events,
    ],
    hints: hintsAfter(known, { post, legs }, events.length),
  };
}

/** Returns the rows of a post that has work as storage has them, or had. */
function rowsOf({ post, etag, legs }: PostToPublish): ReadonlyMap<string, StoredRow> {
  const ref = refOf(post);
  const rows: StoredRow[] = [
    { row: toPostRow(postKey(ref), post), etag },
    ...legs.map((stored) => ({
      row: toLegRow(legKey(ref, stored.leg.network), stored.leg),
      etag: stored.etag,
    })),
    // What is in it decides nothing.
    { row: { rowKey: workKey(post.id) }, etag: "" },
  ];
  return new Map(rows.map((one) => [one.row.rowKey, one]));
}

/** Makes the transaction of a change: every row that it decides on is read for it, or known to the caller. */
export function postOperation<Answer>(change: PostChange<Answer>): PostOperation<Answer> {
  const { id, known, stored, pace, dueAt = null } = change;
  const ref = refOf(known);
  const legs = known.draft.networks.map((network) => legKey(ref, network));
  return {
    id,
    ref,
    dueAt,
    rowKeys: [postKey(ref), workKey(ref.postId), ...legs],
    ...(stored && { known: rowsOf(stored) }),
    decide(view, tried) {
      const current = readPost(view, ref, known);
      const decision = change.decide(current, view);
      if (decision.kind === "refuse") return decision;
      const { answer } = decision;
      if (decision.kind === "done")
        return { ...decision, answer: { answer, hints: tried?.answer.hints ?? NO_HINTS } };
      const { hints, ...write } = postWrite(current, decision.after, view, pace);
      invariant(hints.dueAt === null || hints.dueAt === dueAt, "a post is due without a row");
      const { movements } = decision;
      return { kind: "write", movements, ...write, answer: { answer, hints } };
    },
  };
}

/**
 * Commits a change of a post. Before it, marks the platform as having open work and writes the due row of a new start
 * time, so that a crash in between leaves at most a mark and a row without a post, and never a post that nobody finds.
 * After it, sends the hints. `by`: a worker needs no mark before, because the post is open work already, and
 * itself sends one hint for the events of all its legs.
 */
export async function commitPost<Answer>(
  services: PublishingDeps,
  operation: PostOperation<Answer>,
  by: "verb" | "worker" = "verb",
): Promise<Answer> {
  const { wakes, clock, billing } = services;
  const { ref, dueAt } = operation;
  const now = clock.now();
  await Promise.all([
    by === "verb" ? wakes.mark("platform", ref.platformId, now) : undefined,
    dueAt === null ? undefined : wakes.add(postWake(ref, dueAt), now),
  ]);
  const { answer, hints } = await billing.wallets.commit(ref.platformId, operation);
  await hint(services, ref, by === "worker" ? { ...hints, hasEvents: false } : hints);
  return answer;
}
