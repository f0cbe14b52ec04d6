import * as z from "zod";
import type { Actor } from "../../callers/caller.ts";
import { shape } from "../../runtime/shape.ts";
import { numberOf, textOf, type Row } from "../../runtime/storage/row.ts";
import type { Table } from "../../runtime/storage/table.ts";
import type { Erasure } from "./erasure.ts";

const PARTITION = "open";
const OPEN_MAX = 1_000;

const stageShape = shape(() => z.enum(["closing", "clearing", "removing"]));

export interface StoredErasure {
  readonly erasure: Erasure;
  readonly etag: string;
}

function toRow(erasure: Erasure): Row {
  const { profileId, requestedBy, ...rest } = erasure;
  return { ...rest, rowKey: profileId, actorKind: requestedBy.kind, actorId: requestedBy.id };
}

function toErasure(row: Row): Erasure {
  return {
    platformId: textOf(row, "platformId"),
    applicationId: textOf(row, "applicationId"),
    profileId: row.rowKey,
    requestedAt: textOf(row, "requestedAt"),
    // Safe: the row was written by `toRow` from this very type.
    requestedBy: { kind: textOf(row, "actorKind"), id: textOf(row, "actorId") } as Actor,
    stage: stageShape().parse(row["stage"]),
    step: numberOf(row, "step"),
    cursor: textOf(row, "cursor"),
    foundInRound: numberOf(row, "foundInRound"),
    removed: numberOf(row, "removed"),
    notBefore: textOf(row, "notBefore"),
    lookedAt: textOf(row, "lookedAt"),
  };
}

/** Profiles that are being erased (table `erasures`); a row holds ids alone and goes with the last of the profile. */
export class ErasureStore {
  readonly #table: Table;

  constructor(table: Table) {
    this.#table = table;
  }

  /** Asked for twice, the first one goes on. */
  async open(erasure: Erasure): Promise<void> {
    await this.#table.insertIfAbsent(PARTITION, toRow(erasure));
  }

  /** Those whose time has come, the one that waited longest first. */
  async listDue(now: Date): Promise<StoredErasure[]> {
    const rows = await this.#table.list({ partitionKey: PARTITION, limit: OPEN_MAX });
    return rows
      .map(({ row, etag }) => ({ erasure: toErasure(row), etag }))
      .filter(({ erasure }) => erasure.notBefore <= now.toISOString())
      .sort((left, right) => (left.erasure.lookedAt < right.erasure.lookedAt ? -1 : 1));
  }

  /** Undefined when another run was first. */
  async save(erasure: Erasure, etag: string): Promise<StoredErasure | undefined> {
    const written = await this.#table.replaceIfUnchanged(PARTITION, toRow(erasure), etag);
    return written === undefined ? undefined : { erasure, etag: written };
  }

  async remove({ profileId }: Erasure): Promise<void> {
    await this.#table.delete(PARTITION, profileId);
  }
}
