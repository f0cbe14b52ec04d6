import {
  isEnded,
  latestCall,
  legStatusOf,
  publishingCall,
  type Leg,
} from "../../../src/shared/publishing/leg.ts";
import { isFinal } from "../../../src/shared/publishing/call.ts";
import type { IndexedPost } from "../../../src/shared/publishing/post-index.ts";
import type { PostWithLegs } from "../../../src/shared/publishing/post-store.ts";
import { inverted, timeOfId } from "../../../src/shared/runtime/ids.ts";
import type { IndexName } from "../../../src/shared/publishing/post.ts";

/** The lists of an application as they are read, by the names of their indexes. */
export type Lists = Readonly<Record<IndexName, readonly (IndexedPost | undefined)[]>>;

const ENDED_BADLY: ReadonlySet<string> = new Set(["failed", "partial", "canceled"]);

/** Returns whether somebody has to look at what became of the leg. */
function isTrouble(leg: Leg): boolean {
  const [publishing, comment, removal] = [
    publishingCall(leg),
    latestCall(leg, "comment"),
    latestCall(leg, "remove"),
  ];
  const isUnknown = legStatusOf(leg) === "failed" && publishing.error?.code === "outcome_unknown";
  const isUncommented =
    isEnded(leg) && (comment?.state === "failed" || comment?.state === "unknown");
  const isLeft =
    removal !== undefined &&
    isFinal(removal) &&
    removal.state !== "done" &&
    removal.error?.code !== "feature_unsupported";
  return isLeft || ((isUnknown || isUncommented) && removal?.state !== "done");
}

/** Posts of one millisecond are in the order of their ids. */
const age = ({ post: { id } }: PostWithLegs) => `${inverted(timeOfId("post", id))} ${id}`;
const dueAt = ({ post: { draft, id } }: PostWithLegs) => `${draft.scheduleAt} ${id}`;

/** An application's lists name exactly the posts that belong there, in order, as the posts are now. */
export function listViolations(lists: Lists, posts: readonly PostWithLegs[]): string[] {
  const all = posts.toSorted((left, right) => (age(left) < age(right) ? -1 : 1));
  const wanted = {
    application: all,
    problem: all.filter(({ post, legs }) => ENDED_BADLY.has(post.status) || legs.some(isTrouble)),
    schedule: all
      .filter(({ post }) => post.status === "scheduled")
      .toSorted((left, right) => (dueAt(left) < dueAt(right) ? -1 : 1)),
  };
  const shown = (entry: IndexedPost | undefined, index: string) =>
    entry === undefined
      ? "a damaged row"
      : [
          entry.postId,
          entry.profileId,
          entry.networks.join(),
          index === "schedule" ? "" : entry.externalId,
        ].join(" ");
  return Object.entries(wanted).flatMap(([index, found]) => {
    const expected = found.map(({ post: { id, profileId, draft } }) =>
      shown({ postId: id, profileId, ...draft }, index),
    );
    // Safe: the names are those of the lists.
    const listed = lists[index as IndexName].map((entry) => shown(entry, index));
    const missing = expected.filter((text) => !listed.includes(text));
    const foreign = listed.filter((text) => !expected.includes(text));
    if (missing.length > 0) return [`the list ${index} lacks ${missing.join("; ")}`];
    if (foreign.length > 0) return [`the list ${index} has ${foreign.join("; ")}`];
    return expected.join() === listed.join() ? [] : [`the list ${index} is out of order`];
  });
}
