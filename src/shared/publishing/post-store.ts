import { inverted, timeOfId } from "../runtime/ids.ts";
import type { NetworkName } from "../networks/lookup.ts";
import { NETWORK_NAMES } from "../networks/names.ts";
import type { Row, StoredRow } from "../runtime/storage/row.ts";
import type { Scanned } from "../runtime/storage/scan.ts";
import { afterPrefix, type Table } from "../runtime/storage/table.ts";
import type { Leg } from "./leg.ts";
import type { Post } from "./post.ts";
import { toLeg, toLegRow, toPost } from "./post-row.ts";

/** Where a post lies: everything of it is under one key, newest post of a profile first. */
export interface PostPlace {
  readonly platformId: string;
  readonly profileId: string;
  readonly postId: string;
}

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
export function postKey({ profileId, postId }: Pick<PostPlace, "profileId" | "postId">): string {
  return `${profilePrefix(profileId)}${inverted(timeOfId("post", postId))}|${postId}`;
}

/** A leg's row follows its post's: one prefix reads a post whole, and a page of posts with their legs. */
export function legKey(
  place: Pick<PostPlace, "profileId" | "postId">,
  network: NetworkName,
): string {
  return `${postKey(place)}|${network}`;
}

export function workKey(postId: string): string {
  return `X|${postId}`;
}

/** A row that tells that a post still has open legs; deleted by the transaction that ends the post. */
export interface OpenWork {
  readonly place: PostPlace;
  readonly nextCheckAt: string;
  readonly checks: number;
}

export const OPEN_WORK_PAGE = 1_000;
const ROWS_OF_POST_MAX = NETWORK_NAMES.length + 1;
const LIST_PAGES_MAX = 10;

const keyOf = ({ post }: PostWithLegs) => postKey({ profileId: post.profileId, postId: post.id });

/** Posts and their legs (table `core`, with the platform's wallet): reads, and the single-row steps of a leg. */
export class PostStore {
  readonly #core: Table;

  constructor(core: Table) {
    this.#core = core;
  }

  async find(place: PostPlace): Promise<PostWithLegs | undefined> {
    const key = postKey(place);
    const rows = await this.#core.list({
      partitionKey: place.platformId,
      from: key,
      before: afterPrefix(`${key}|`),
      limit: ROWS_OF_POST_MAX,
    });
    return assemble(place.platformId, rows)[0];
  }

  async findPost(place: PostPlace): Promise<Post | undefined> {
    const stored = await this.#core.find(place.platformId, postKey(place));
    return stored === undefined ? undefined : toPost(place.platformId, stored.row);
  }

  async findLeg(place: PostPlace, network: NetworkName): Promise<StoredLeg | undefined> {
    const stored = await this.#core.find(place.platformId, legKey(place, network));
    return stored === undefined ? undefined : { leg: toLeg(stored.row), etag: stored.etag };
  }

  /** Writes the leg if nobody wrote it since; undefined when somebody did. */
  async replaceLegIfUnchanged(
    place: PostPlace,
    leg: Leg,
    etag: string,
  ): Promise<StoredLeg | undefined> {
    const row = toLegRow(legKey(place, leg.network), leg);
    const written = await this.#core.replaceIfUnchanged(place.platformId, row, etag);
    return written === undefined ? undefined : { leg, etag: written };
  }

  /** A profile's posts with their legs, newest first, that `fits` accepts; the number of rows read is bounded. */
  async listOfProfile(
    scope: { readonly platformId: string; readonly profileId: string },
    position: { readonly after: string | undefined; readonly limit: number },
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
      const posts = assemble(scope.platformId, rows);
      const atEnd = rows.length < size;
      // The last post of a full page may lack legs: it is read again with the next page.
      for (const found of atEnd ? posts : posts.slice(0, -1)) {
        if (items.length === position.limit) return { items, next: keyOf(found) };
        const verdict = fits(found);
        if (verdict === "stop") return { items, next: undefined };
        if (verdict) items.push(found);
      }
      const last = posts.at(-1);
      if (atEnd || last === undefined) return { items, next: undefined };
      from = keyOf(last);
    }
    return { items, next: from };
  }

  /** Removes a post that nobody works on any more. Its own row goes last, so that a crash leaves what finds the rest. */
  async remove({ post, legs }: PostWithLegs): Promise<void> {
    const { platformId, profileId, id: postId } = post;
    const place = { profileId, postId };
    const parts = legs.map(({ network }) => legKey(place, network));
    await Promise.all(
      [...parts, workKey(postId)].map((rowKey) => this.#core.delete(platformId, rowKey)),
    );
    await this.#core.delete(platformId, postKey(place));
  }

  /** A page of the platform's open work, whenever it is due, of posts after the given one. */
  async listOpenWork(
    platformId: string,
    after = "",
    limit = OPEN_WORK_PAGE,
  ): Promise<(OpenWork & { readonly etag: string })[]> {
    const rows = await this.#core.list({
      partitionKey: platformId,
      from: workKey(after === "" ? "" : `${after} `),
      before: afterPrefix("X|"),
      limit,
    });
    return rows.map(({ row, etag }) => ({ ...toOpenWork(platformId, row), etag }));
  }

  /** Moves the next look at open work; false when the work ended or another sweeper was first. */
  async postponeWork(work: OpenWork & { readonly etag: string }): Promise<boolean> {
    const { platformId } = work.place;
    const written = await this.#core.replaceIfUnchanged(platformId, toWorkRow(work), work.etag);
    return written !== undefined;
  }

  /** Removes the work row of a post that has ended, unless it is another one by now, of a post on its way again. */
  async removeWork({ place, etag }: OpenWork & { readonly etag: string }): Promise<void> {
    await this.#core.delete(place.platformId, workKey(place.postId), etag);
  }
}

/** `P|profile|time|post` has four parts, a leg's key five. */
function isPostKey(rowKey: string): boolean {
  return rowKey.split("|").length === 4;
}

function assemble(platformId: string, rows: readonly StoredRow[]): PostWithLegs[] {
  const posts: { post: Post; legs: Leg[] }[] = [];
  for (const { row } of rows) {
    if (isPostKey(row.rowKey)) posts.push({ post: toPost(platformId, row), legs: [] });
    else posts.at(-1)?.legs.push(toLeg(row));
  }
  for (const { post, legs } of posts) {
    const place = ({ network }: Leg) => post.draft.networks.indexOf(network);
    legs.sort((left, right) => place(left) - place(right));
  }
  return posts;
}

export function toWorkRow({ place, nextCheckAt, checks }: OpenWork): Row {
  return { rowKey: workKey(place.postId), profileId: place.profileId, nextCheckAt, checks };
}

function toOpenWork(platformId: string, row: Row): OpenWork {
  return {
    place: {
      platformId,
      profileId: String(row["profileId"]),
      postId: row.rowKey.slice("X|".length),
    },
    nextCheckAt: String(row["nextCheckAt"]),
    checks: Number(row["checks"]),
  };
}
