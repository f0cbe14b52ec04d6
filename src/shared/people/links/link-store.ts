import { oneOf, rowCodec, text, truth } from "../../runtime/storage/codec.ts";
import type { Row } from "../../runtime/storage/row.ts";
import type { Table } from "../../runtime/storage/table.ts";
import { LINK_KINDS, type LinkKind } from "./schema.ts";

/** A one-time link. The partition key is the hash of its token. */
export const linkRow = rowCodec("link", {
  kind: oneOf(LINK_KINDS),
  platformId: text(),
  /** Id of the user or invitation that it is for. */
  userId: text(),
  /** The user's password and email, or the mark of the invitation, at first. A change of them ends the link. */
  binding: text(),
  /** The new address of a change of the email, or "" for other links. */
  newEmail: text(),
  /** Whether using the link switches the second factor off. */
  removesTotp: truth(),
  createdAt: text(),
  expiresAt: text(),
});

/** The links of a kind that a user has. The partition key is the user's id. */
export const userLinksRow = rowCodec("links of a user", {
  /** Hashes of tokens, separated by commas, the latest last. */
  hashes: text(),
  expiresAt: text(),
});

const LINK = "L";

export interface Link {
  readonly kind: LinkKind;
  readonly platformId: string;
  readonly userId: string;
  readonly binding: string;
  readonly newEmail: string;
  readonly removesTotp: boolean;
  readonly createdAt: string;
  readonly expiresAt: string;
}

/**
 * How many links of a kind a user has at a time. A new one ends the oldest. The link of an invitation ends with its
 * mark, in the transaction that makes a new link.
 */
const AT_A_TIME: Readonly<Record<LinkKind, number | null>> = {
  verify: 1,
  reset: 3,
  operator_reset: 1,
  email: 1,
  invitation: null,
};

/** Stores one-time links by the hashes of their tokens. */
export class LinkStore {
  readonly #links: Table;

  constructor(links: Table) {
    this.#links = links;
  }

  /** Stores a link, and then its entry in the user's list. Always takes the same number of requests. */
  async add(hash: string, link: Link): Promise<void> {
    const { kind, userId, expiresAt } = link;
    const row: Row = { ...linkRow.encode(link), rowKey: LINK };
    await this.#links.put(hash, row);
    const atATime = AT_A_TIME[kind];
    if (atATime === null) return;
    await this.#links.change(userId, kind, (stored) => {
      const known = stored === undefined ? "" : userLinksRow.decode(stored.row).hashes;
      const others = known.split(",").filter((one) => one !== "" && one !== hash);
      const hashes = [...others, hash].slice(-atATime).join(",");
      return { kind: "keep", columns: userLinksRow.encode({ hashes, expiresAt }) };
    });
  }

  /** Finds a link that no later one has ended. Its time, user and platform are not checked. */
  async find(hash: string): Promise<Link | undefined> {
    const stored = await this.#links.find(hash, LINK);
    if (stored === undefined) return undefined;
    const link = linkRow.decode(stored.row);
    if (AT_A_TIME[link.kind] === null) return link;
    const own = await this.#links.find(link.userId, link.kind);
    if (own === undefined) return undefined;
    return userLinksRow.decode(own.row).hashes.split(",").includes(hash) ? link : undefined;
  }

  /** Removes a page of a platform's links. Searches the whole table. */
  async removeOfPlatform(platformId: string, after: string | undefined) {
    return await this.#links.removeSelected(
      { property: "platformId", values: [platformId] },
      after,
    );
  }

  async removeExpiredBefore(time: Date, after: string | undefined) {
    const olderThan = { property: "expiresAt", time: time.toISOString() };
    return await this.#links.removeSelected({ olderThan }, after);
  }
}
