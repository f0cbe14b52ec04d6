import { comparedEmail } from "../../runtime/email.ts";
import { sha256Hex } from "../../runtime/secrets.ts";
import { rowCodec, text } from "../../runtime/storage/codec.ts";
import { unlessDamaged } from "../../runtime/storage/damaged-row.ts";
import type { Row } from "../../runtime/storage/row.ts";
import type { Table } from "../../runtime/storage/table.ts";

/** The claim of an email address. The partition key is a hash of the address. */
export const emailRow = rowCodec("email claim", {
  platformId: text(),
  userId: text(),
  claimedAt: text(),
});

/** Records that an email has had its starting credit. The partition key is a keyed hash of the address. */
export const startingCreditRow = rowCodec("starting credit", {
  platformId: text(),
  creditedAt: text(),
});

const CREDIT_ROW_KEY = "C";
const ROW_KEY = "E";
/** Claims that one step of the purge checks. */
const PAGE_ROWS = 200;

export interface EmailOwner {
  readonly platformId: string;
  readonly userId: string;
}

export interface EmailClaim extends EmailOwner {
  readonly claimedAt: string;
  readonly etag: string;
}

const emailPartition = (email: string) => sha256Hex(comparedEmail(email));

const claimRow = ({ platformId, userId }: EmailOwner, at: string): Row => ({
  ...emailRow.encode({ platformId, userId, claimedAt: at }),
  rowKey: ROW_KEY,
});

/** Stores which user logs in with an email address, without storing the address. */
export class EmailStore {
  readonly #emails: Table;

  constructor(emails: Table) {
    this.#emails = emails;
  }

  async find(email: string): Promise<EmailClaim | undefined> {
    const stored = await this.#emails.find(emailPartition(email), ROW_KEY);
    if (stored === undefined) return undefined;
    return { ...emailRow.decode(stored.row), etag: stored.etag };
  }

  /** Claims an address. Of any number of concurrent claims, exactly one returns true. */
  async claim(email: string, owner: EmailOwner, at: string): Promise<boolean> {
    const row = claimRow(owner, at);
    try {
      return (await this.#emails.insertIfAbsent(emailPartition(email), row)) !== undefined;
    } catch (error) {
      // The answer was lost. The user's id is new, so only this call can have made a claim with it.
      if ((await this.find(email))?.userId === owner.userId) return true;
      throw error;
    }
  }

  /** Replaces a claim unless it has changed since it was read. Returns whether it did. */
  async takeOver(email: string, from: EmailClaim, owner: EmailOwner, at: string): Promise<boolean> {
    const row = claimRow(owner, at);
    const etag = await this.#emails.replaceIfUnchanged(emailPartition(email), row, from.etag);
    return etag !== undefined;
  }

  /**
   * Claims the starting credit of an address for a platform. Only one platform ever gets true, and gets it on every
   * call. `hash` is keyed, so that nobody can tell from it who had a credit.
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

  /** Lists a page of the claims made before the time, without damaged rows. */
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

  /** Releases the address, unless another user has claimed it since. */
  async release(email: string, userId: string): Promise<void> {
    const claim = await this.find(email);
    if (claim?.userId !== userId) return;
    await this.#emails.delete(emailPartition(email), ROW_KEY, claim.etag);
  }
}
