import { afterPrefix, type Table } from "../runtime/storage/table.ts";
import {
  IDEMPOTENCY_ROWS,
  idempotencyRowKey,
  toAccepted,
  type Accepted,
} from "./accept/accepted.ts";

const keysOf = (platformId: string) => ({
  partitionKey: platformId,
  from: IDEMPOTENCY_ROWS,
  before: afterPrefix(IDEMPOTENCY_ROWS),
});

/** What Idempotency-Keys stand for (table `core`); written only by the accepting transaction. */
export class IdempotencyStore {
  readonly #core: Table;

  constructor(core: Table) {
    this.#core = core;
  }

  async find(platformId: string, idempotencyKey: string): Promise<Accepted | undefined> {
    const stored = await this.#core.find(platformId, idempotencyRowKey(idempotencyKey));
    return stored === undefined ? undefined : toAccepted(stored.row);
  }

  /** A page of the keys under which posts were accepted before. */
  async listBefore(platformId: string, time: Date, after: string | undefined) {
    const { rows, next } = await this.#core.select(
      {
        ...keysOf(platformId),
        olderThan: { property: "createdAt", time: time.toISOString() },
      },
      after,
    );
    const keys = rows.map(({ row }) => ({ rowKey: row.rowKey, accepted: toAccepted(row) }));
    return { keys, next };
  }

  /** `rowKey` as it was listed. */
  async remove(platformId: string, rowKey: string): Promise<void> {
    await this.#core.delete(platformId, rowKey);
  }

  /** Removes a page of the keys under which posts of a profile were accepted. */
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
