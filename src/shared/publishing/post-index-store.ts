import { inverted, isId } from "../runtime/ids.ts";
import { unlessDamaged } from "../runtime/storage/damaged-row.ts";
import { afterPrefix, type Table } from "../runtime/storage/table.ts";
import { newestFirstKey, POST_INDEXES, type IndexedPost } from "./post-index.ts";
import type { IndexName } from "./post.ts";

/** Which part of an index to read, in its order. */
interface IndexRange {
  readonly index: IndexName;
  readonly platformId: string;
  readonly applicationId: string;
  /** The bounds of the time that sorts the index: of creation, or of the start. Inclusive. */
  readonly from?: string | undefined;
  /** Exclusive. */
  readonly to?: string | undefined;
  /** Where to begin: the key of an entry. */
  readonly at?: string | undefined;
  readonly limit: number;
}

interface IndexEntry {
  readonly key: string;
  /** Undefined when the row is damaged. */
  readonly post: IndexedPost | undefined;
}

/** Reads the indexes of posts (table `core`, with the posts). The transactions of `post-change.ts` write them. */
export class PostIndexStore {
  readonly #core: Table;

  constructor(core: Table) {
    this.#core = core;
  }

  /** Lists entries in one query: as many as the limit says, and fewer only at the end of the range. */
  async list({ at, limit, ...range }: IndexRange): Promise<readonly IndexEntry[]> {
    const { index, platformId, applicationId, from, to } = range;
    const prefix = POST_INDEXES[index].prefix(applicationId);
    // Newest first, the range begins with the last millisecond before `to`.
    const time = (text: string, shift = 0) => inverted(Math.max(0, Date.parse(text) + shift));
    const isScheduled = index === "schedule";
    const first = isScheduled ? from : to && time(to, -1);
    const end = isScheduled ? to : from && `${time(from)}}`;
    const rows = await this.#core.list({
      partitionKey: platformId,
      from: at ?? `${prefix}${first ?? ""}`,
      before: end === undefined ? afterPrefix(prefix) : `${prefix}${end}`,
      limit,
    });
    return rows.map(({ row }) => {
      const columns = unlessDamaged(() => POST_INDEXES[index].decode(row));
      const post = columns && { ...columns, postId: row.rowKey.split("|").at(-1) ?? "" };
      return { key: row.rowKey, post };
    });
  }

  /** Finds an application's post by its id. @throws DamagedRow */
  async find(
    platformId: string,
    applicationId: string,
    postId: string,
  ): Promise<IndexedPost | undefined> {
    if (!isId("post", postId)) return undefined;
    const { prefix, decode } = POST_INDEXES.application;
    const key = `${prefix(applicationId)}${newestFirstKey({ id: postId })}|${postId}`;
    const stored = await this.#core.find(platformId, key);
    return stored && { ...decode(stored.row), postId };
  }
}
