import type { NetworkName } from "../networks/networks.ts";
import { inverted, timeOfId } from "../runtime/ids.ts";
import { json, namesForm, rowCodec, text, textOrNull } from "../runtime/storage/codec.ts";
import type { Row, RowWrite } from "../runtime/storage/row.ts";
import type { PostWithLegs } from "./post-store.ts";
import type { IndexName, Post } from "./post.ts";
import { legRecord } from "./read/post-view.ts";

/*
 * The rows under which an application's posts are listed, whatever profile they belong to. Each is written in the
 * transaction of the change that it follows from, so no list is ever behind its posts. Which of them a post has is a
 * column of the post's row (`indexed`): what has to be deleted is known without a read, also after a later build changed
 * what belongs into an index.
 */

const networks = namesForm<NetworkName>();
const listedColumns = { profileId: text(), networks: json(networks), externalId: textOrNull() };

export const applicationPostRow = rowCodec("post of an application", listedColumns);
export const problemPostRow = rowCodec("post with a problem", listedColumns);
export const scheduledPostRow = rowCodec("scheduled post", {
  profileId: text(),
  networks: json(networks),
});

/** What a list finds in an index, from which it can tell whether it has to read the post. */
export interface IndexedPost {
  readonly postId: string;
  readonly profileId: string;
  readonly networks: readonly NetworkName[];
  readonly externalId: string | null;
}

/** What people may have to do something about. */
export const POST_PROBLEMS = ["outcome_unknown", "first_comment", "removal"] as const;
export type PostProblem = (typeof POST_PROBLEMS)[number];

/** Returns the problems of a post, as its readers see it. */
export function postProblems({ post, legs }: PostWithLegs): ReadonlySet<PostProblem> {
  const found = new Set<PostProblem>();
  for (const leg of legs) {
    const { status, error, firstComment, removal } = legRecord(post.draft, leg, undefined);
    const isRemoved = removal?.status === "removed";
    if (status === "failed" && error?.code === "outcome_unknown" && !isRemoved)
      found.add("outcome_unknown");
    const isCommented = firstComment?.status !== "failed" && firstComment?.status !== "unknown";
    if (!isCommented && !isRemoved) found.add("first_comment");
    if (removal?.status === "failed") found.add("removal");
  }
  return found;
}

const NEEDS_PEOPLE: ReadonlySet<string> = new Set(["failed", "partial", "canceled"]);

/** An index of posts: its keys, its columns, and which posts belong into it. */
interface PostIndex {
  readonly prefix: (applicationId: string) => string;
  /** What follows the prefix and sorts the rows. */
  readonly sortKey: (post: Post) => string;
  readonly encode: (post: Post) => Omit<Row, "rowKey">;
  readonly decode: (row: Row) => Omit<IndexedPost, "postId">;
  readonly has: (found: PostWithLegs) => boolean;
}

export const newestFirstKey = ({ id }: Pick<Post, "id">) => inverted(timeOfId("post", id));
const columnsOf = ({ profileId, draft }: Post) => {
  return { profileId, networks: draft.networks, externalId: draft.externalId };
};

export const POST_INDEXES: Readonly<Record<IndexName, PostIndex>> = {
  application: {
    prefix: (applicationId) => `PA|${applicationId}|`,
    sortKey: newestFirstKey,
    encode: (post) => applicationPostRow.encode(columnsOf(post)),
    decode: (row) => applicationPostRow.decode(row, "people"),
    has: () => true,
  },
  problem: {
    prefix: (applicationId) => `PP|${applicationId}|`,
    sortKey: newestFirstKey,
    encode: (post) => problemPostRow.encode(columnsOf(post)),
    decode: (row) => problemPostRow.decode(row, "people"),
    has: (found) => NEEDS_PEOPLE.has(found.post.status) || postProblems(found).size > 0,
  },
  schedule: {
    prefix: (applicationId) => `PS|${applicationId}|`,
    sortKey: ({ draft }) => draft.scheduleAt ?? "",
    encode: (post) => scheduledPostRow.encode(columnsOf(post)),
    decode: (row) => ({ ...scheduledPostRow.decode(row, "people"), externalId: null }),
    has: ({ post }) => post.status === "scheduled",
  },
};

/** The order in which `indexed` names them. */
const NAMES = ["application", "problem", "schedule"] as const satisfies readonly IndexName[];

function postIndexKey(name: IndexName, post: Post): string {
  const { prefix, sortKey } = POST_INDEXES[name];
  return `${prefix(post.applicationId)}${sortKey(post)}|${post.id}`;
}

const toIndexRow = (name: IndexName, post: Post): Row => ({
  ...POST_INDEXES[name].encode(post),
  rowKey: postIndexKey(name, post),
});

/** Returns the keys of the index rows that the post has. */
export function indexKeysOf(post: Post): string[] {
  return NAMES.filter((name) => post.indexed.includes(name)).map((name) =>
    postIndexKey(name, post),
  );
}

/**
 * Returns the indexes that list a changed post, and the writes that make it so: rows are created, deleted, moved to
 * another key, or replaced where a column changed. `before` is the post as it is stored. Its row, which the same
 * transaction writes under its version, decides for the index rows too, so they need no versions.
 */
export function indexChange(
  before: Post | undefined,
  after: PostWithLegs,
): { readonly indexed: Post["indexed"]; readonly writes: readonly RowWrite[] } {
  // What a later build has written stays.
  const indexed = before?.indexed.filter((name) => !NAMES.includes(name)) ?? [];
  const writes: RowWrite[] = [];
  for (const name of NAMES) {
    const isStored = before?.indexed.includes(name) === true;
    const stored = isStored ? toIndexRow(name, before) : undefined;
    const row = POST_INDEXES[name].has(after) ? toIndexRow(name, after.post) : undefined;
    if (row !== undefined) indexed.push(name);
    if (stored !== undefined && stored.rowKey !== row?.rowKey)
      writes.push({ kind: "delete", rowKey: stored.rowKey });
    if (row === undefined) continue;
    if (stored?.rowKey !== row.rowKey) writes.push({ kind: "create", row });
    else if (JSON.stringify(stored) !== JSON.stringify(row))
      writes.push({ kind: "replace", row, etag: "*" });
  }
  return { indexed, writes };
}
