import type { RowWrite } from "../runtime/storage/row.ts";
import { eventWrite, type EventType } from "../webhooks/events/event.ts";
import { isEnded, type Leg } from "./leg.ts";
import { hasStarted, type Post } from "./post.ts";
import { legView, postView } from "./read/post-view.ts";

interface PostEvent {
  readonly type: EventType;
  readonly leg?: Leg;
}

function eventsOfLegs(before: readonly Leg[], after: readonly Leg[]): PostEvent[] {
  return after.flatMap((leg) => {
    const earlier = before.find(({ network }) => network === leg.network);
    const isNew = isEnded(leg) && (earlier === undefined || !isEnded(earlier));
    if (!isNew || leg.status === "skipped") return [];
    return [{ type: leg.status === "succeeded" ? "leg.succeeded" : "leg.failed", leg } as const];
  });
}

/** Returns the event of the post itself: none when its state stays, or when a retry makes it `processing` again. */
function eventsOfPost(before: Post | undefined, after: Post): PostEvent[] {
  const isRetry = before !== undefined && hasStarted(before) && after.status === "processing";
  if (isRetry) return [];
  return before?.status === after.status ? [] : [{ type: `post.${after.status}` }];
}

/**
 * Returns the events of a change as rows of its transaction, and the post with its event sequence advanced: one for
 * each leg that ended, and one for the post's new state.
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
  const post = eventsOfPost(before?.post, change.post);
  // The post's own event comes first when it begins, and last when it ends.
  const ofLegs = eventsOfLegs(before?.legs ?? [], legs);
  const events = legs.every(isEnded) ? [...ofLegs, ...post] : [...post, ...ofLegs];
  const next = { ...change.post, eventSequence: change.post.eventSequence + events.length };
  const view = postView({ post: next, legs });
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
        data: leg === undefined ? { post: view } : { post: view, leg: legView(leg, undefined) },
      },
      now,
    ),
  );
  return { post: next, writes };
}
