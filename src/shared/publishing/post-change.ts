import type { CoreOperation, CoreView, Decision } from "../billing/group-commit.ts";
import { invariant } from "../runtime/errors.ts";
import type { RowWrite } from "../runtime/storage/row.ts";
import { EVENT_ROWS } from "../webhooks/events/event.ts";
import type { PublishingDeps } from "./deps.ts";
import { isEnded, postStatus, type Leg } from "./leg.ts";
import { withEvents } from "./publish/post-events.ts";
import { postProgress, toLeg, toLegRow, toPost, toPostRow } from "./post-row.ts";
import {
  legKey,
  postKey,
  toWorkRow,
  workKey,
  type PostWithLegs,
  type StoredLeg,
} from "./post-store.ts";
import { refOf, type Post, type PostRef } from "./post.ts";

// The only writer of posts: every verb says what a post was and what it becomes, and the rows follow from that here.
// Between two such transactions a worker moves its own leg alone, under its claim, by `PostStore`.

/** A post's rows as a transaction sees them. */
export interface CurrentPost {
  readonly post: Post;
  readonly etag: string;
  readonly legs: readonly StoredLeg[];
  readonly hasWork: boolean;
}

/** What a post becomes. */
export interface NextPost extends PostWithLegs {
  /** When the sweeper first looks at the legs that this change puts on their way; absent when it puts none. */
  readonly nextCheckAt?: string;
}

type Write<Answer> = Extract<Decision<Answer>, { readonly kind: "write" }>;

export type PostDecision<Answer> =
  | (Omit<Write<Answer>, "kind" | "writes"> & { readonly kind: "change"; readonly after: NextPost })
  | Exclude<Decision<Answer>, { readonly kind: "write" }>;

/** One change of a post that is stored. */
export interface PostChange<Answer> {
  /** Names the very change: whoever repeats it under way shares its answer. */
  readonly id: string;
  /** As it was read. */
  readonly known: Post;
  /** `current` is undefined when somebody changed the post since: what was decided on what was read holds no more. */
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

/** Returns the post as it stands with its legs: `completedAt` is set once none is left. */
export function progressed(post: Post, legs: readonly Leg[], now: Date): Post {
  const at = now.toISOString();
  const completedAt = legs.every(isEnded) ? at : null;
  return { ...post, status: postStatus(legs), updatedAt: at, completedAt };
}

/** An edit, which has a revision of its own, writes the whole row; progress only what it moves. */
function postWrite(before: CurrentPost | undefined, post: Post): RowWrite {
  const rowKey = postKey(refOf(post));
  if (before === undefined) return { kind: "create", row: toPostRow(rowKey, post) };
  const { etag } = before;
  if (before.post.revision !== post.revision)
    return { kind: "replace", row: toPostRow(rowKey, post), etag };
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
    return earlier.leg === leg ? [] : [{ kind: "replace", row, etag: earlier.etag }];
  });
  const removed = gone.map(({ leg }): RowWrite => {
    return { kind: "delete", rowKey: legKey(ref, leg.network) };
  });
  return [...writes, ...removed];
}

/** The work row stands as long as a post that has started has a leg that is not ended. */
function workWrites(before: CurrentPost | undefined, after: NextPost): RowWrite[] {
  const { post, legs, nextCheckAt } = after;
  const hasWork = before?.hasWork === true;
  const ref = refOf(post);
  if (legs.every(isEnded)) return hasWork ? [{ kind: "delete", rowKey: workKey(post.id) }] : [];
  if (hasWork || nextCheckAt === undefined) return [];
  return [{ kind: "create", row: toWorkRow({ ref, nextCheckAt, checks: 0 }) }];
}

/** Returns everything that a change of a post writes: its row, its legs', the work row, and the events that tell of it. */
export function postWrites(
  before: CurrentPost | undefined,
  after: NextPost,
  now: Date,
): readonly RowWrite[] {
  const known = before && { post: before.post, legs: before.legs.map(({ leg }) => leg) };
  const { post, writes } = withEvents({ before: known, ...after }, now);
  return [
    postWrite(before, post),
    ...legWrites(before, { ...after, post }),
    ...workWrites(before, after),
    ...writes,
  ];
}

/** Makes the transaction of a change: it reads every row that it decides on. */
export function postOperation<Answer>(change: PostChange<Answer>): CoreOperation<Answer> {
  const { id, known } = change;
  const ref = refOf(known);
  const legs = known.draft.networks.map((network) => legKey(ref, network));
  return {
    id,
    rowKeys: [postKey(ref), workKey(ref.postId), ...legs],
    decide(view): Decision<Answer> {
      const current = readPost(view, ref, known);
      const decision = change.decide(current, view);
      if (decision.kind !== "change") return decision;
      const { after, ...rest } = decision;
      return { ...rest, kind: "write", writes: postWrites(current, after, view.now) };
    },
  };
}

const isEventWrite = (write: RowWrite) =>
  write.kind === "create" && write.row.rowKey.startsWith(EVENT_ROWS);

/**
 * Commits a change of a post, and hints that its events wait when it has any. `teller`: a worker that has the post in
 * hand, or is hinted about it right after, hints for all of its changes at once.
 */
export async function commitPost<Answer>(
  services: PublishingDeps,
  platformId: string,
  operation: CoreOperation<Answer>,
  teller: "now" | "worker",
): Promise<Answer> {
  let hasEvents = false;
  const answer = await services.wallets.commit(platformId, {
    ...operation,
    decide(view) {
      const decision = operation.decide(view);
      // Kept from try to try: one whose outcome was not known may have been the one that was applied.
      hasEvents ||= decision.kind === "write" && decision.writes.some(isEventWrite);
      return decision;
    },
  });
  if (hasEvents && teller === "now")
    await services.fanOutQueue.markAndHint(platformId, services.clock.now());
  return answer;
}
