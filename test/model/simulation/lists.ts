import {
  isEnded,
  latestCall,
  legStatusOf,
  publishingCall,
  type Leg,
} from "../../../src/shared/publishing/leg.ts";
import { isFinal } from "../../../src/shared/publishing/call.ts";
import type { IndexedConnection } from "../../../src/shared/connections/connection-index.ts";
import type { Connection } from "../../../src/shared/connections/connection.ts";
import type { IndexedPost } from "../../../src/shared/publishing/post-index.ts";
import type { PostWithLegs } from "../../../src/shared/publishing/post-store.ts";
import { inverted, timeOfId } from "../../../src/shared/runtime/ids.ts";
import type { IndexName } from "../../../src/shared/publishing/post.ts";
import type { Profile } from "../../../src/shared/tenants/profiles/profile.ts";

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
    return differences(index, expected, listed);
  });
}

function differences(
  index: string,
  expected: readonly string[],
  listed: readonly string[],
): string[] {
  const missing = expected.filter((text) => !listed.includes(text));
  const foreign = listed.filter((text) => !expected.includes(text));
  if (missing.length > 0) return [`the list ${index} lacks ${missing.join("; ")}`];
  if (foreign.length > 0) return [`the list ${index} has ${foreign.join("; ")}`];
  return expected.join() === listed.join() ? [] : [`the list ${index} is out of order`];
}

/** The connections that an application's lists name. */
export interface ConnectionLists {
  readonly application: readonly (IndexedConnection | undefined)[];
  readonly attention: readonly (IndexedConnection | undefined)[];
}

/** An application's lists name exactly the connections that belong there, newest first, as they are now. */
export function connectionListViolations(
  lists: ConnectionLists,
  connections: readonly Connection[],
): string[] {
  const linkedAt = ({ id }: Connection) => `${inverted(timeOfId("connection", id))} ${id}`;
  const all = connections.toSorted((left, right) => (linkedAt(left) < linkedAt(right) ? -1 : 1));
  const isTold = ({ status, warnedExpiresAt }: Connection) =>
    warnedExpiresAt !== null || status === "needs_reauth";
  const shown = (one: IndexedConnection | undefined) =>
    one === undefined ? "a damaged row" : `${one.id} ${one.profileId} ${one.network}`;
  return [
    ...differences("of connections", all.map(shown), lists.application.map(shown)),
    ...differences("attention", all.filter(isTold).map(shown), lists.attention.map(shown)),
  ];
}

/** An application's profiles are found by their titles and external ids, and by nothing else. */
export function nameViolations(
  names: readonly { readonly key: string }[],
  profiles: readonly Profile[],
): string[] {
  const expected = profiles.flatMap(({ id, applicationId, title, externalId }) => {
    // The names of these profiles are short and have neither accents nor punctuation.
    const own = new Set([title, externalId ?? title].map((name) => name.toLowerCase()));
    return [...own].map((name) => `FT|${applicationId}|${name}  |${id}`);
  });
  const inOrder = expected.toSorted((left, right) => (left < right ? -1 : 1));
  return differences(
    "of names",
    inOrder,
    names.map(({ key }) => key),
  );
}
