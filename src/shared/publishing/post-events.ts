import type { RowWrite } from "../runtime/storage/row.ts";
import { eventWrite, type EventType } from "../webhooks/events/event.ts";
import { isEnded, type Leg } from "./leg.ts";
import { hasStarted, type Post } from "./post.ts";
import { legView, postView } from "./read/post-view.ts";

interface Told {
  readonly type: EventType;
  readonly leg?: Leg;
}

function toldOfLegs(before: readonly Leg[], after: readonly Leg[]): Told[] {
  return after.flatMap((leg) => {
    const earlier = before.find(({ network }) => network === leg.network);
    const isNew = isEnded(leg) && (earlier === undefined || !isEnded(earlier));
    if (!isNew || leg.status === "skipped") return [];
    return [{ type: leg.status === "succeeded" ? "leg.succeeded" : "leg.failed", leg } as const];
  });
}

/**
 * The event of a post's own change; none where its state stays, as while legs end one by one, and none for a post that
 * is on its way again.
 */
function toldOfPost(before: Post | undefined, after: Post): Told[] {
  const isRetry = before !== undefined && hasStarted(before) && after.status === "processing";
  if (isRetry) return [];
  return before?.status === after.status ? [] : [{ type: `post.${after.status}` }];
}

/**
 * What is told of a change, as rows of the transaction that makes it: each leg that ended, then the post's new state.
 * The post comes back with its event sequence advanced.
 */
export function withEvents(
  change: {
    readonly before: { readonly post: Post; readonly legs: readonly Leg[] } | undefined;
    readonly post: Post;
    readonly legs: readonly Leg[];
  },
  now: Date,
): { readonly post: Post; readonly writes: readonly RowWrite[] } {
  const { before, legs } = change;
  const post = toldOfPost(before?.post, change.post);
  // A post that begins is told first, one that ends last.
  const ofLegs = toldOfLegs(before?.legs ?? [], legs);
  const told = legs.every(isEnded) ? [...ofLegs, ...post] : [...post, ...ofLegs];
  const next = { ...change.post, eventSequence: change.post.eventSequence + told.length };
  const view = postView({ post: next, legs });
  const writes = told.map(({ type, leg }, index) =>
    eventWrite(
      {
        type,
        sequence: change.post.eventSequence + index + 1,
        applicationId: next.applicationId,
        profileId: next.profileId,
        postId: next.id,
        // Not of the work under way: a transaction holds changes of several.
        origin: next,
        data: leg === undefined ? { post: view } : { post: view, leg: legView(leg, undefined) },
      },
      now,
    ),
  );
  return { post: next, writes };
}
