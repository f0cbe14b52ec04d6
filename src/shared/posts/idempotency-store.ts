import type { Table } from "../storage/table.ts";
import { idempotencyRowKey, toAccepted, type Accepted } from "./accept.ts";

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
}
