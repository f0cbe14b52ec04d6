import { type EventType, eventWrite } from "../events/events.ts";
import type { RowWrite } from "../runtime/storage/row.ts";
import { type CallKind, isFinal } from "./call.ts";
import { isEnded, type Leg, publishingCall } from "./leg.ts";
import type { PostWithLegs } from "./post-store.ts";
import { hasStarted, type Post } from "./post.ts";
import { legRecord, postRecord } from "./read/post-view.ts";

interface PostEvent {
  readonly type: EventType;
  readonly leg?: Leg;
}

/** The events of a call that has ended, successfully or not. */
const CALL_EVENTS = {
  publish: ["leg.succeeded", "leg.failed"],
  comment: ["comment.succeeded", "comment.failed"],
  remove: ["leg.removed", "leg.removal_failed"],
} as const satisfies Record<CallKind, readonly [EventType, EventType]>;

/** Returns the events of the calls that a change ends. One that is skipped has none. */
function eventsOfLegs(before: readonly Leg[], after: readonly Leg[]): PostEvent[] {
  return after.flatMap((leg) => {
    const earlier = before.find(({ network }) => network === leg.network);
    const known = new Set(earlier?.calls.filter(isFinal).map(({ key }) => key));
    // An edit may have given it another key.
    if (earlier !== undefined && isEnded(earlier)) known.add(publishingCall(leg).key);
    return leg.calls
      .filter((call) => isFinal(call) && call.state !== "skipped" && !known.has(call.key))
      .map(({ kind, state }) => ({ type: CALL_EVENTS[kind][state === "done" ? 0 : 1], leg }));
  });
}

/**
 * Returns the events of a change as rows of its transaction, and the post with its event sequence advanced. There is
 * one event for each leg that ended, and one for the post's new state.
 */
export function withEvents(
  before: PostWithLegs | undefined,
  { post: after, legs }: PostWithLegs,
  now: Date,
): { readonly post: Post; readonly writes: readonly RowWrite[] } {
  const earlier = before?.post;
  const post: PostEvent[] = [];
  // A retry makes the post `processing` again, which is no event.
  const isRetry = earlier !== undefined && hasStarted(earlier) && after.status === "processing";
  if (!isRetry && earlier?.status !== after.status) post.push({ type: `post.${after.status}` });
  else if (!isRetry && earlier?.revision !== after.revision) post.push({ type: "post.updated" });
  // The post's own event is the first when it begins, and the last when it ends.
  const ofLegs = eventsOfLegs(before?.legs ?? [], legs);
  const events = legs.every(isEnded) ? [...ofLegs, ...post] : [...post, ...ofLegs];
  const next = { ...after, eventSequence: after.eventSequence + events.length };
  const view = postRecord({ post: next, legs });
  const writes = events.map(({ type, leg }, index) =>
    eventWrite(
      {
        type,
        sequence: after.eventSequence + index + 1,
        applicationId: next.applicationId,
        profileId: next.profileId,
        postId: next.id,
        // The current work is not the origin, because one transaction has changes of several.
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
