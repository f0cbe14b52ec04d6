import { serviceUnavailable } from "../runtime/errors.ts";
import { inverted, timeOfId } from "../runtime/ids.ts";
import type { NetworkName } from "../networks/networks.ts";
import { NETWORK_NAMES } from "../networks/names.ts";
import { integer, rowCodec, text, type Reader } from "../runtime/storage/codec.ts";
import { unlessDamaged } from "../runtime/storage/damaged-row.ts";
import type { Row, StoredRow } from "../runtime/storage/row.ts";
import type { ScannedPage } from "../runtime/storage/scan.ts";
import { afterPrefix, type Table } from "../runtime/storage/table.ts";
import type { Leg } from "./leg.ts";
import type { Post, PostRef } from "./post.ts";
import { toLeg, toLegRow, toPost } from "./post-row.ts";

export interface StoredLeg {
  readonly leg: Leg;
  readonly etag: string;
}

/** A started post as a worker reads it, with the legs to publish. */
export interface PostToPublish {
  readonly post: Post;
  readonly etag: string;
  readonly legs: readonly StoredLeg[];
}

export interface PostWithLegs {
  readonly post: Post;
  /** In the order in which the request named their networks. */
  readonly legs: readonly Leg[];
}

const profilePrefix = (profileId: string) => `P|${profileId}|`;

/** Returns the key of a post's row, computed from its id, which contains its time. */
export function postKey({ profileId, postId }: Pick<PostRef, "profileId" | "postId">): string {
  return `${profilePrefix(profileId)}${inverted(timeOfId("post", postId))}|${postId}`;
}

/**
 * Returns the key of a leg's row. It follows the post's row, so that one prefix reads a whole post, or a page of them.
 */
export function legKey(ref: Pick<PostRef, "profileId" | "postId">, network: NetworkName): string {
  return `${postKey(ref)}|${network}`;
}

export function workKey(postId: string): string {
  return WORK_ROWS + postId;
}

/** Where a page of posts begins, and its length. */
interface PostPosition {
  readonly after: string | undefined;
  readonly limit: number;
  /** For removing posts: a damaged post ends the list with an error instead of being left out. */
  readonly missesNone?: true;
  readonly reader?: Reader;
}

/** The row of a post that has open legs. The transaction that ends the post deletes it. */
export interface OpenWork {
  readonly ref: PostRef;
  readonly nextCheckAt: string;
  readonly checks: number;
}

export const workRow = rowCodec("open work", {
  profileId: text(),
  nextCheckAt: text(),
  checks: integer(),
});

export interface StoredWork extends OpenWork {
  readonly etag: string;
}

export interface OpenWorkPage {
  readonly works: readonly StoredWork[];
  readonly next: string | undefined;
}

const WORK_ROWS = "X|";
const OPEN_WORK_PAGE = 1_000;
const ROWS_OF_POST_MAX = NETWORK_NAMES.length + 1;
const LIST_PAGES_MAX = 10;

/** Stores posts and their legs (table `core`, with the platform's wallet): reads, and the writes of a single leg. */
export class PostStore {
  readonly #core: Table;

  constructor(core: Table) {
    this.#core = core;
  }

  async find(ref: PostRef, reader: Reader = "work"): Promise<PostWithLegs | undefined> {
    const rows = await this.#rowsOf(ref);
    return assemble(
      ref.platformId,
      rows.map(({ row }) => row),
      reader,
    );
  }

  #rowsOf(ref: PostRef): Promise<readonly StoredRow[]> {
    const key = postKey(ref);
    return this.#core.list({
      partitionKey: ref.platformId,
      from: key,
      before: afterPrefix(`${key}|`),
      limit: ROWS_OF_POST_MAX,
    });
  }

  /** Reads a post and these of its legs in parallel. @throws DamagedRow when one of them is damaged */
  async findToPublish(
    ref: PostRef,
    networks: readonly NetworkName[],
  ): Promise<PostToPublish | undefined> {
    const rows = await this.#rowsOf(ref);
    const stored = new Map(rows.map((one) => [one.row.rowKey, one]));
    const found = stored.get(postKey(ref));
    if (found === undefined) return undefined;
    const legs = networks.flatMap((network) => stored.get(legKey(ref, network)) ?? []);
    return {
      post: toPost(ref.platformId, found.row),
      etag: found.etag,
      legs: legs.map(({ row, etag }) => ({ leg: toLeg(row), etag })),
    };
  }

  async findPost(ref: PostRef): Promise<Post | undefined> {
    const stored = await this.#core.find(ref.platformId, postKey(ref));
    return stored === undefined ? undefined : toPost(ref.platformId, stored.row);
  }

  async findLeg(ref: PostRef, network: NetworkName): Promise<StoredLeg | undefined> {
    const stored = await this.#core.find(ref.platformId, legKey(ref, network));
    return stored === undefined ? undefined : { leg: toLeg(stored.row), etag: stored.etag };
  }

  /** Writes the leg unless it has changed since it was read. Returns undefined if it has. */
  async replaceLegIfUnchanged(
    ref: PostRef,
    leg: Leg,
    etag: string,
  ): Promise<StoredLeg | undefined> {
    const row = toLegRow(legKey(ref, leg.network), leg);
    const written = await this.#core.mergeIfUnchanged(ref.platformId, row, etag);
    return written === undefined ? undefined : { leg, etag: written };
  }

  /**
   * Replaces a leg and sets the next check of the post's open work, in one write. Returns undefined when another write
   * has changed the leg.
   * @throws AppError `service_unavailable` when the outcome is unknown
   */
  async replaceLegAndCheck(
    ref: PostRef,
    leg: Leg,
    etag: string,
    nextCheckAt: string,
  ): Promise<StoredLeg | undefined> {
    const row = toLegRow(legKey(ref, leg.network), leg);
    const written = await this.#core.transact(ref.platformId, [
      { kind: "merge", row, etag },
      { kind: "put", row: toWorkRow({ ref, nextCheckAt, checks: 0 }) },
    ]);
    if (written.kind === "in_doubt") throw serviceUnavailable(written.cause);
    const now = written.kind === "applied" ? written.etags.get(row.rowKey) : undefined;
    return now === undefined ? undefined : { leg, etag: now };
  }

  /**
   * Lists a profile's posts that `fits` accepts with their legs, newest first. Reads a limited number of rows.
   * @throws DamagedRow with `missesNone`, when a post is damaged
   */
  async listOfProfile(
    scope: { readonly platformId: string; readonly profileId: string },
    position: PostPosition,
    fits: (post: PostWithLegs) => boolean | "stop",
  ): Promise<ScannedPage<PostWithLegs>> {
    const prefix = profilePrefix(scope.profileId);
    const size = (position.limit + 1) * ROWS_OF_POST_MAX;
    const items: PostWithLegs[] = [];
    let from = position.after ?? prefix;
    for (let pages = 0; pages < LIST_PAGES_MAX; pages += 1) {
      const rows = await this.#core.list({
        partitionKey: scope.platformId,
        from,
        before: afterPrefix(prefix),
        limit: size,
      });
      const posts = assembleAll(scope.platformId, rows, position);
      const atEnd = rows.length < size;
      // The last post of a full page may lack legs, so it is read again with the next page.
      for (const { key, found } of atEnd ? posts : posts.slice(0, -1)) {
        if (items.length === position.limit) return { items, next: key };
        if (found === undefined) continue;
        const verdict = fits(found);
        if (verdict === "stop") return { items, next: undefined };
        if (verdict) items.push(found);
      }
      const last = posts.at(-1);
      if (atEnd || last === undefined) return { items, next: undefined };
      from = last.key;
    }
    return { items, next: from };
  }

  /**
   * Removes a post without work, with its legs and the rows that list it, in one transaction. When some of its rows are
   * gone already, its own row is removed last, so that a crash leaves what finds the rest.
   * @throws AppError `service_unavailable` when the outcome is unknown; repeating the call is safe
   */
  async remove({ post, legs }: PostWithLegs, listings: readonly string[]): Promise<void> {
    const { platformId, profileId, id: postId } = post;
    const ref = { profileId, postId };
    const parts = [...listings, ...legs.map(({ network }) => legKey(ref, network))];
    await this.#core.delete(platformId, workKey(postId));
    const removed = await this.#core.transact(
      platformId,
      [...parts, postKey(ref)].map((rowKey) => ({ kind: "delete", rowKey }) as const),
    );
    if (removed.kind === "in_doubt") throw serviceUnavailable(removed.cause);
    if (removed.kind === "applied") return;
    await this.#core.deleteAll(platformId, parts);
    await this.#core.delete(platformId, postKey(ref));
  }

  /**
   * Lists a page of the platform's open work, due or not, after the given post, without damaged rows. `next` is the
   * last post of a page, unless it is the last page.
   */
  async listOpenWork(
    platformId: string,
    after = "",
    limit = OPEN_WORK_PAGE,
  ): Promise<OpenWorkPage> {
    const rows = await this.#core.list({
      partitionKey: platformId,
      from: workKey(after === "" ? "" : `${after} `),
      before: afterPrefix(WORK_ROWS),
      limit,
    });
    const works = rows.flatMap(({ row, etag }) => {
      const found = unlessDamaged(() => workRow.decode(row));
      if (found === undefined) return [];
      const { profileId, ...work } = found;
      return [{ ...work, ref: { platformId, profileId, postId: postIdOf(row) }, etag }];
    });
    const last = rows.at(-1);
    const next = rows.length < limit || last === undefined ? undefined : postIdOf(last.row);
    return { works, next };
  }

  /** Moves the next check of open work. Returns false when the work has ended or another sweep moved it first. */
  async postponeWork(work: StoredWork): Promise<boolean> {
    const { platformId } = work.ref;
    const written = await this.#core.mergeIfUnchanged(platformId, toWorkRow(work), work.etag);
    return written !== undefined;
  }

  /** Brings the next check of a post's open work forward, if it has any. */
  async bringCheckForward(ref: PostRef, at: string): Promise<void> {
    await this.#core.update(ref.platformId, workKey(ref.postId), (row) =>
      workRow.decode(row).nextCheckAt > at ? workRow.encodePart({ nextCheckAt: at }) : undefined,
    );
  }

  /** Removes the work row of a post that has ended, unless a retry has written a new one. */
  async removeWork({ ref, etag }: StoredWork): Promise<void> {
    await this.#core.delete(ref.platformId, workKey(ref.postId), etag);
  }
}

const postIdOf = ({ rowKey }: Row) => rowKey.slice(WORK_ROWS.length);

/** Reports whether the key is a post's: `P|profile|time|post` has four parts, and a leg's key five. */
function isPostKey(rowKey: string): boolean {
  return rowKey.split("|").length === 4;
}

/** Assembles a post from its rows. @throws DamagedRow when any row is damaged: the post would differ without it */
function assemble(
  platformId: string,
  rows: readonly Row[],
  reader: Reader,
): PostWithLegs | undefined {
  const [first, ...others] = rows;
  // These are legs without a post, because a removal was interrupted.
  if (first === undefined || !isPostKey(first.rowKey)) return undefined;
  const post = toPost(platformId, first, reader);
  const order = ({ network }: Leg) => post.draft.networks.indexOf(network);
  const legs = others.map((row) => toLeg(row, reader));
  return { post, legs: legs.sort((left, right) => order(left) - order(right)) };
}

interface ListedPost {
  readonly key: string;
  /** Undefined when a row of the post is damaged. A list leaves it out. */
  readonly found: PostWithLegs | undefined;
}

function assembleAll(
  platformId: string,
  rows: readonly StoredRow[],
  { missesNone, reader = "work" }: PostPosition,
): ListedPost[] {
  const groups: Row[][] = [];
  for (const { row } of rows) {
    if (isPostKey(row.rowKey)) groups.push([row]);
    else groups.at(-1)?.push(row);
  }
  return groups.map((group) => {
    const read = () => assemble(platformId, group, reader);
    return {
      key: group[0]?.rowKey ?? "",
      found: missesNone === true ? read() : unlessDamaged(read),
    };
  });
}

export function toWorkRow({ ref, nextCheckAt, checks }: OpenWork): Row {
  const { profileId, postId } = ref;
  return { ...workRow.encode({ profileId, nextCheckAt, checks }), rowKey: workKey(postId) };
}
