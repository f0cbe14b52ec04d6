import { sha256Hex } from "../../runtime/secrets.ts";
import { rowCodec, text } from "../../runtime/storage/codec.ts";
import { unlessDamaged } from "../../runtime/storage/damaged-row.ts";
import type { Row } from "../../runtime/storage/row.ts";
import type { Table } from "../../runtime/storage/table.ts";

/** The claim of an e-mail address; the partition key is a hash of the address. */
export const emailRow = rowCodec("e-mail claim", {
  platformId: text(),
  userId: text(),
  claimedAt: text(),
});

/** That an e-mail has had its starting credit; the partition key is a keyed hash of the address. */
export const startingCreditRow = rowCodec("starting credit", {
  platformId: text(),
  creditedAt: text(),
});

const CREDIT_ROW_KEY = "C";
const ROW_KEY = "E";
/** Claims that one step of the purge follows. */
const PAGE_ROWS = 200;

/** The user who signs in with an e-mail address. */
export interface EmailOwner {
  readonly platformId: string;
  readonly userId: string;
}

/** The claim of an e-mail address, as it was read. */
export interface EmailClaim extends EmailOwner {
  readonly claimedAt: string;
  readonly etag: string;
}

/** Ignores case and surrounding space. */
const partitionOf = (email: string) => sha256Hex(email.trim().toLowerCase());

const claimRow = ({ platformId, userId }: EmailOwner, at: string): Row => ({
  ...emailRow.encode({ platformId, userId, claimedAt: at }),
  rowKey: ROW_KEY,
});

/** Stores which user signs in with an e-mail address. The addresses themselves are not stored. */
export class EmailStore {
  readonly #emails: Table;

  constructor(emails: Table) {
    this.#emails = emails;
  }

  /** Finds the claim of an address. @throws DamagedRow */
  async find(email: string): Promise<EmailClaim | undefined> {
    const stored = await this.#emails.find(partitionOf(email), ROW_KEY);
    if (stored === undefined) return undefined;
    return { ...emailRow.decode(stored.row), etag: stored.etag };
  }

  /** Claims an address. Returns true to exactly one of any number of concurrent claims. */
  async claim(email: string, owner: EmailOwner, at: string): Promise<boolean> {
    const row = claimRow(owner, at);
    try {
      return (await this.#emails.insertIfAbsent(partitionOf(email), row)) !== undefined;
    } catch (error) {
      // The answer was lost. The user's id is new, so a claim with it can only be this one.
      if ((await this.find(email))?.userId === owner.userId) return true;
      throw error;
    }
  }

  /** Replaces a claim unless it changed since it was read. Returns whether it did. */
  async takeOver(email: string, from: EmailClaim, owner: EmailOwner, at: string): Promise<boolean> {
    const row = claimRow(owner, at);
    const etag = await this.#emails.replaceIfUnchanged(partitionOf(email), row, from.etag);
    return etag !== undefined;
  }

  /**
   * Claims the starting credit of an address for a platform. Returns true to one platform alone, however often it asks.
   * `hash`: keyed, so that nobody can tell from it who had a credit.
   */
  async claimCredit(hash: string, platformId: string, at: string): Promise<boolean> {
    const columns = startingCreditRow.encode({ platformId, creditedAt: at });
    const row = { ...columns, rowKey: CREDIT_ROW_KEY };
    if ((await this.#emails.insertIfAbsent(hash, row)) !== undefined) return true;
    return (await this.creditedTo(hash)) === platformId;
  }

  /** Returns the platform that has had the starting credit of an address. @throws DamagedRow */
  async creditedTo(hash: string): Promise<string | undefined> {
    const stored = await this.#emails.find(hash, CREDIT_ROW_KEY);
    return stored === undefined ? undefined : startingCreditRow.decode(stored.row).platformId;
  }

  /** Returns a page of the claims that were made before the time. Leaves out damaged rows. */
  async claimedBefore(time: Date, after: string | undefined) {
    const olderThan = { property: "claimedAt", time: time.toISOString() };
    const { rows, next } = await this.#emails.select({ olderThan, pageRows: PAGE_ROWS }, after);
    const claims = rows.flatMap(({ partitionKey, row, etag }) => {
      const claim = unlessDamaged(() => emailRow.decode(row));
      const release = () => this.#emails.delete(partitionKey, ROW_KEY, etag);
      return claim === undefined ? [] : [{ ...claim, release }];
    });
    return { claims, next };
  }

  /** Gives the address up, unless another user has claimed it since. */
  async release(email: string, userId: string): Promise<void> {
    const claim = await this.find(email);
    if (claim?.userId !== userId) return;
    await this.#emails.delete(partitionOf(email), ROW_KEY, claim.etag);
  }
}
