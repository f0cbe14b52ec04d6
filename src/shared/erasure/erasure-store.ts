import type { Actor } from "../callers/caller.ts";
import { integer, oneOf, rowCodec, text } from "../runtime/storage/codec.ts";
import { unlessDamaged } from "../runtime/storage/damaged-row.ts";
import type { Row } from "../runtime/storage/row.ts";
import type { Table } from "../runtime/storage/table.ts";
import { ERASURE_STAGES, type Erasure } from "./erasure-stages.ts";

const PARTITION = "open";

/** A profile or platform that is being erased. The row key is its id. */
export const erasureRow = rowCodec("erasure", {
  platformId: text(),
  applicationId: text(),
  requestedAt: text(),
  actorKind: text<Actor["kind"]>(),
  actorId: text(),
  stage: oneOf(ERASURE_STAGES),
  step: integer(),
  cursor: text(),
  foundInRound: integer(),
  removed: integer(),
  notBefore: text(),
  lookedAt: text(),
});

/** An erasure with the version for a conditional write. */
export interface StoredErasure {
  readonly erasure: Erasure;
  readonly etag: string;
}

function erasureToRow({ requestedBy, ...erasure }: Erasure): Row {
  const { kind: actorKind, id: actorId } = requestedBy;
  return { ...erasureRow.encode({ ...erasure, actorKind, actorId }), rowKey: erasure.id };
}

function toErasure(row: Row): Erasure {
  const { actorKind, actorId, ...erasure } = erasureRow.decode(row);
  return { ...erasure, id: row.rowKey, requestedBy: { kind: actorKind, id: actorId } };
}

/** Stores what is being erased (table `erasures`). A row has only ids, and is removed with the profile or platform. */
export class ErasureStore {
  readonly #table: Table;

  constructor(table: Table) {
    this.#table = table;
  }

  /** Stores an erasure and replaces one that was not decided. A run that drops the old one loses the race. */
  async open(erasure: Erasure): Promise<void> {
    await this.#table.put(PARTITION, erasureToRow(erasure));
  }

  async hasDue(now: Date): Promise<boolean> {
    let after: string | undefined;
    do {
      const { items, next } = await this.list(after);
      if (items.some(({ notBefore }) => notBefore <= now.toISOString())) return true;
      after = next;
    } while (after !== undefined);
    return false;
  }

  /** Lists a page of erasures, due or not, without damaged rows. */
  async list(after: string | undefined): Promise<{
    readonly items: readonly Erasure[];
    readonly next: string | undefined;
  }> {
    const { rows, next } = await this.#table.select({ partitionKey: PARTITION }, after);
    const items = rows.flatMap(({ row }) => unlessDamaged(() => [toErasure(row)]) ?? []);
    return { items, next };
  }

  async find(id: string): Promise<StoredErasure | undefined> {
    const stored = await this.#table.find(PARTITION, id);
    return stored === undefined ? undefined : { erasure: toErasure(stored.row), etag: stored.etag };
  }

  /** Replaces an erasure. Returns undefined when another run did so first. */
  async save(erasure: Erasure, etag: string): Promise<StoredErasure | undefined> {
    const written = await this.#table.mergeIfUnchanged(PARTITION, erasureToRow(erasure), etag);
    return written === undefined ? undefined : { erasure, etag: written };
  }

  /** Removes an erasure, unless it was stored again since. */
  async drop({ erasure, etag }: StoredErasure): Promise<void> {
    await this.#table.delete(PARTITION, erasure.id, etag);
  }

  async remove({ id }: Erasure): Promise<void> {
    await this.#table.delete(PARTITION, id);
  }
}
