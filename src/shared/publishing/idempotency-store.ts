import { sha256Hex } from "../runtime/secrets.ts";
import { integer, rowCodec, text } from "../runtime/storage/codec.ts";
import { unlessDamaged } from "../runtime/storage/damaged-row.ts";
import type { Row } from "../runtime/storage/row.ts";
import { afterPrefix, type Table } from "../runtime/storage/table.ts";

const IDEMPOTENCY_ROWS = "I|";

/** The post that was accepted under an Idempotency-Key. */
export interface AcceptedPost {
  readonly fingerprint: string;
  readonly postId: string;
  readonly profileId: string;
  readonly httpStatus: number;
}

export const acceptedRow = rowCodec("idempotency key", {
  fingerprint: text(),
  postId: text(),
  profileId: text(),
  httpStatus: integer(),
  createdAt: text(),
});

/** Returns the row key of an Idempotency-Key. It is a hash, because the key may have characters that row keys can't. */
export function idempotencyRowKey(idempotencyKey: string): string {
  return IDEMPOTENCY_ROWS + sha256Hex(idempotencyKey);
}

export function toAcceptedRow(rowKey: string, accepted: AcceptedPost, createdAt: string): Row {
  return { ...acceptedRow.encode({ ...accepted, createdAt }), rowKey };
}

export function toAccepted(row: Row): AcceptedPost {
  const { createdAt: _unused, ...accepted } = acceptedRow.decode(row);
  return accepted;
}

const keysOf = (platformId: string) => ({
  partitionKey: platformId,
  from: IDEMPOTENCY_ROWS,
  before: afterPrefix(IDEMPOTENCY_ROWS),
});

/** Stores which post an Idempotency-Key was used for (table `core`). Only the accepting transaction writes keys. */
export class IdempotencyStore {
  readonly #core: Table;

  constructor(core: Table) {
    this.#core = core;
  }

  /** Finds the post accepted under a key. Undefined for an unused key. @throws DamagedRow */
  async find(platformId: string, idempotencyKey: string): Promise<AcceptedPost | undefined> {
    const stored = await this.#core.find(platformId, idempotencyRowKey(idempotencyKey));
    return stored === undefined ? undefined : toAccepted(stored.row);
  }

  /** Lists a page of the keys whose posts were accepted before the time, without damaged rows. */
  async listBefore(platformId: string, time: Date, after: string | undefined) {
    const { rows, next } = await this.#core.select(
      {
        ...keysOf(platformId),
        olderThan: { property: "createdAt", time: time.toISOString() },
      },
      after,
    );
    const keys = rows.flatMap(({ row }) => {
      const accepted = unlessDamaged(() => toAccepted(row));
      return accepted === undefined ? [] : [{ rowKey: row.rowKey, accepted }];
    });
    return { keys, next };
  }

  /** Removes keys by the row keys from the list. */
  async remove(platformId: string, rowKeys: readonly string[]): Promise<void> {
    await this.#core.deleteAll(platformId, rowKeys);
  }

  removeOfProfile(platformId: string, profileId: string, after: string | undefined) {
    return this.#core.removeSelected(
      {
        ...keysOf(platformId),
        property: "profileId",
        values: [profileId],
      },
      after,
    );
  }
}
