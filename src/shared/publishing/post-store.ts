import { inverted, timeOfId } from "../runtime/ids.ts";
import type { NetworkName } from "../networks/lookup.ts";
import { NETWORK_NAMES } from "../networks/names.ts";
import { integer, rowCodec, text } from "../runtime/storage/codec.ts";
import { unlessDamaged } from "../runtime/storage/damaged-row.ts";
import type { Row, StoredRow } from "../runtime/storage/row.ts";
import type { Scanned } from "../runtime/storage/scan.ts";
import { afterPrefix, type Table } from "../runtime/storage/table.ts";
import type { Leg } from "./leg.ts";
import type { Post, PostRef } from "./post.ts";
import { toLeg, toLegRow, toPost } from "./post-row.ts";

export interface StoredLeg {
  readonly leg: Leg;
  readonly etag: string;
}

export interface PostWithLegs {
  readonly post: Post;
  /** In the order in which the request named their networks. */
  readonly legs: readonly Leg[];
}

const profilePrefix = (profileId: string) => `P|${profileId}|`;

/** The key of a post's row, computed from its id, which carries its time. */
export function postKey({ profileId, postId }: Pick<PostRef, "profileId" | "postId">): string {
  return `${profilePrefix(profileId)}${inverted(timeOfId("post", postId))}|${postId}`;
}

/** A leg's row follows its post's: one prefix reads a post whole, and a page of posts with their legs. */
export function legKey(ref: Pick<PostRef, "profileId" | "postId">, network: NetworkName): string {
  return `${postKey(ref)}|${network}`;
}

export function workKey(postId: string): string {
  return WORK_ROWS + postId;
}

/** Where a list of posts begins, and how long it is. */
interface PostPosition {
  readonly after: string | undefined;
  readonly limit: number;
  /** For who removes posts: a damaged one ends the list with an error. Otherwise the list leaves it out. */
  readonly missesNone?: true;
}

/** A row that tells that a post still has open legs; deleted by the transaction that ends the post. */
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

/** Open work as it is stored. */
export interface StoredWork extends OpenWork {
  readonly etag: string;
}

const WORK_ROWS = "X|";
const OPEN_WORK_PAGE = 1_000;
const ROWS_OF_POST_MAX = NETWORK_NAMES.length + 1;
const LIST_PAGES_MAX = 10;

/** Posts and their legs (table `core`, with the platform's wallet): reads, and the single-row steps of a leg. */
export class PostStore {
  readonly #core: Table;

  constructor(core: Table) {
    this.#core = core;
  }

  async find(ref: PostRef): Promise<PostWithLegs | undefined> {
    const key = postKey(ref);
    const rows = await this.#core.list({
      partitionKey: ref.platformId,
      from: key,
      before: afterPrefix(`${key}|`),
      limit: ROWS_OF_POST_MAX,
    });
    return assemble(
      ref.platformId,
      rows.map(({ row }) => row),
    );
  }

  async findPost(ref: PostRef): Promise<Post | undefined> {
    const stored = await this.#core.find(ref.platformId, postKey(ref));
    return stored === undefined ? undefined : toPost(ref.platformId, stored.row);
  }

  async findLeg(ref: PostRef, network: NetworkName): Promise<StoredLeg | undefined> {
    const stored = await this.#core.find(ref.platformId, legKey(ref, network));
    return stored === undefined ? undefined : { leg: toLeg(stored.row), etag: stored.etag };
  }

  /** Writes the leg if nobody wrote it since; undefined when somebody did. */
  async replaceLegIfUnchanged(
    ref: PostRef,
    leg: Leg,
    etag: string,
  ): Promise<StoredLeg | undefined> {
    const row = toLegRow(legKey(ref, leg.network), leg);
    const written = await this.#core.replaceIfUnchanged(ref.platformId, row, etag);
    return written === undefined ? undefined : { leg, etag: written };
  }

  /**
   * A profile's posts with their legs, newest first, that `fits` accepts; the number of rows read is bounded.
   * @throws DamagedRow when none may be missed and one of them is damaged
   */
  async listOfProfile(
    scope: { readonly platformId: string; readonly profileId: string },
    position: PostPosition,
    fits: (post: PostWithLegs) => boolean | "stop",
  ): Promise<Scanned<PostWithLegs>> {
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
      const posts = assembleAll(scope.platformId, rows, position.missesNone === true);
      const atEnd = rows.length < size;
      // The last post of a full page may lack legs: it is read again with the next page.
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

  /** Removes a post that nobody works on any more. Its own row goes last, so that a crash leaves what finds the rest. */
  async remove({ post, legs }: PostWithLegs): Promise<void> {
    const { platformId, profileId, id: postId } = post;
    const ref = { profileId, postId };
    const parts = legs.map(({ network }) => legKey(ref, network));
    await Promise.all(
      [...parts, workKey(postId)].map((rowKey) => this.#core.delete(platformId, rowKey)),
    );
    await this.#core.delete(platformId, postKey(ref));
  }

  /**
   * Lists a page of the platform's open work, whenever it is due, of posts after the given one; `next` is the last post
   * of a page that others follow. Damaged rows are left out.
   */
  async listOpenWork(
    platformId: string,
    after = "",
    limit = OPEN_WORK_PAGE,
  ): Promise<{ readonly works: readonly StoredWork[]; readonly next: string | undefined }> {
    const rows = await this.#core.list({
      partitionKey: platformId,
      from: workKey(after === "" ? "" : `${after} `),
      before: afterPrefix(WORK_ROWS),
      limit,
    });
    const works = rows.flatMap(({ row, etag }) => {
      const work = unlessDamaged(() => toOpenWork(platformId, row));
      return work === undefined ? [] : [{ ...work, etag }];
    });
    const last = rows.at(-1);
    const next = rows.length < limit || last === undefined ? undefined : postIdOf(last.row);
    return { works, next };
  }

  /** Moves the next look at open work; false when the work ended or another sweeper was first. */
  async postponeWork(work: StoredWork): Promise<boolean> {
    const { platformId } = work.ref;
    const written = await this.#core.replaceIfUnchanged(platformId, toWorkRow(work), work.etag);
    return written !== undefined;
  }

  /** Removes the work row of a post that has ended, unless it is another one by now, of a post on its way again. */
  async removeWork({ ref, etag }: StoredWork): Promise<void> {
    await this.#core.delete(ref.platformId, workKey(ref.postId), etag);
  }
}

const postIdOf = ({ rowKey }: Row) => rowKey.slice(WORK_ROWS.length);

/** `P|profile|time|post` has four parts, a leg's key five. */
function isPostKey(rowKey: string): boolean {
  return rowKey.split("|").length === 4;
}

/** @throws DamagedRow when one of the rows is: without it the post would be another one */
function assemble(platformId: string, rows: readonly Row[]): PostWithLegs | undefined {
  const [first, ...others] = rows;
  // Legs whose post is gone: a removal was cut short.
  if (first === undefined || !isPostKey(first.rowKey)) return undefined;
  const post = toPost(platformId, first);
  const order = ({ network }: Leg) => post.draft.networks.indexOf(network);
  return { post, legs: others.map(toLeg).sort((left, right) => order(left) - order(right)) };
}

interface Listed {
  readonly key: string;
  /** Undefined when a row of the post is damaged: a list leaves it out. */
  readonly found: PostWithLegs | undefined;
}

function assembleAll(
  platformId: string,
  rows: readonly StoredRow[],
  missesNone: boolean,
): Listed[] {
  const groups: Row[][] = [];
  for (const { row } of rows) {
    if (isPostKey(row.rowKey)) groups.push([row]);
    else groups.at(-1)?.push(row);
  }
  return groups.map((group) => {
    const read = () => assemble(platformId, group);
    return { key: group[0]?.rowKey ?? "", found: missesNone ? read() : unlessDamaged(read) };
  });
}

export function toWorkRow({ ref, nextCheckAt, checks }: OpenWork): Row {
  const { profileId, postId } = ref;
  return { ...workRow.encode({ profileId, nextCheckAt, checks }), rowKey: workKey(postId) };
}

/** @throws DamagedRow */
function toOpenWork(platformId: string, row: Row): OpenWork {
  const { profileId, ...work } = workRow.decode(row);
  return { ...work, ref: { platformId, profileId, postId: postIdOf(row) } };
}
