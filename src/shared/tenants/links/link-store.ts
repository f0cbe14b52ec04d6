import { oneOf, rowCodec, text, truth } from "../../runtime/storage/codec.ts";
import type { Row } from "../../runtime/storage/row.ts";
import type { Table } from "../../runtime/storage/table.ts";
import { LINK_KINDS, type LinkKind } from "./schema.ts";

/** A one-time link; the partition key is the hash of its token. */
export const linkRow = rowCodec("link", {
  kind: oneOf(LINK_KINDS),
  platformId: text(),
  /** Whom it is for: a user or an invitation. */
  userId: text(),
  /** What the user's password and e-mail were, or the mark of the invitation: the link ends when one of them changes. */
  binding: text(),
  /** The address that a change of the e-mail is to; "" for other links. */
  newEmail: text(),
  /** Whether using the link switches the second factor off. */
  removesTotp: truth(),
  createdAt: text(),
  expiresAt: text(),
});

/** The links of a kind that a user has; the partition key is the user's id. */
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
 * How many links of a kind a user has at a time: a new one ends the oldest. That of an invitation ends with its mark, in
 * the transaction that brings a new one.
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

  /** Stores a link: first the link, then that it is one of the user's. Always the same number of requests. */
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

  /** Finds a link that no later one has ended. Says nothing of its time, its user and its platform. */
  async find(hash: string): Promise<Link | undefined> {
    const stored = await this.#links.find(hash, LINK);
    if (stored === undefined) return undefined;
    const link = linkRow.decode(stored.row);
    if (AT_A_TIME[link.kind] === null) return link;
    const own = await this.#links.find(link.userId, link.kind);
    if (own === undefined) return undefined;
    return userLinksRow.decode(own.row).hashes.split(",").includes(hash) ? link : undefined;
  }

  /** Removes a page of a platform's links; looks through the whole table. */
  async removeOfPlatform(platformId: string, after: string | undefined) {
    return await this.#links.removeSelected(
      { property: "platformId", values: [platformId] },
      after,
    );
  }

  /** Removes a page of links that expired before the time. */
  async removeExpiredBefore(time: Date, after: string | undefined) {
    const olderThan = { property: "expiresAt", time: time.toISOString() };
    return await this.#links.removeSelected({ olderThan }, after);
  }
}
