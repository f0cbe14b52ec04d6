import { sha256Hex } from "../../runtime/secrets.ts";
import { textOf, type Row } from "../../runtime/storage/row.ts";
import type { Table } from "../../runtime/storage/table.ts";

const ROW_KEY = "E";

export interface EmailOwner {
  readonly platformId: string;
  readonly userId: string;
}

export interface EmailClaim extends EmailOwner {
  readonly claimedAt: string;
  readonly etag: string;
}

/** Case and surrounding space make no other address. */
const partitionOf = (email: string) => sha256Hex(email.trim().toLowerCase());

const claimRow = ({ platformId, userId }: EmailOwner, at: string): Row => ({
  rowKey: ROW_KEY,
  platformId,
  userId,
  claimedAt: at,
});

/** Who signs in with an e-mail. The addresses themselves are not stored here. */
export class EmailStore {
  readonly #emails: Table;

  constructor(emails: Table) {
    this.#emails = emails;
  }

  async find(email: string): Promise<EmailClaim | undefined> {
    const stored = await this.#emails.find(partitionOf(email), ROW_KEY);
    if (stored === undefined) return undefined;
    const { row, etag } = stored;
    return {
      platformId: textOf(row, "platformId"),
      userId: textOf(row, "userId"),
      claimedAt: textOf(row, "claimedAt"),
      etag,
    };
  }

  /** Of any number of concurrent claims one is answered with true. */
  async claim(email: string, owner: EmailOwner, at: string): Promise<boolean> {
    const row = claimRow(owner, at);
    try {
      return (await this.#emails.insertIfAbsent(partitionOf(email), row)) !== undefined;
    } catch (error) {
      // The answer was lost; a claim under our own fresh user id can only be this one.
      if ((await this.find(email))?.userId === owner.userId) return true;
      throw error;
    }
  }

  /** Takes over a claim that nobody changed since it was read. */
  async takeOver(email: string, from: EmailClaim, owner: EmailOwner, at: string): Promise<boolean> {
    const row = claimRow(owner, at);
    const etag = await this.#emails.replaceIfUnchanged(partitionOf(email), row, from.etag);
    return etag !== undefined;
  }

  /** Frees the e-mail, unless it is somebody else's by now. */
  async release(email: string, userId: string): Promise<void> {
    const claim = await this.find(email);
    if (claim?.userId !== userId) return;
    await this.#emails.delete(partitionOf(email), ROW_KEY, claim.etag);
  }
}
