import { serviceUnavailable } from "../../runtime/errors.ts";
import { timeOfId } from "../../runtime/ids.ts";
import { findAll } from "../../runtime/storage/scan.ts";
import { DamagedRow } from "../../runtime/storage/damaged-row.ts";
import type { RowPut, RowWrite, TransactionResult } from "../../runtime/storage/row.ts";
import { afterPrefix, type Table } from "../../runtime/storage/table.ts";
import {
  circuitOf,
  endpointStateRow,
  NEW_STATE,
  STATE_ROW,
  toState,
  type EndpointState,
} from "../endpoints/endpoint-health-store.ts";
import { deliveryKey, toDelivery, toDeliveryRow } from "./delivery-row.ts";
import type { EndpointResults } from "../endpoints/endpoint.ts";
import { waitsForCircuit, type Delivery } from "./delivery.ts";

/** Prefix of the keys of pending rows. They sort behind the endpoint's state. */
const PENDING = "W|";
/** Replaces the time. It sorts behind every time. */
const NEW = "new";
/** Each takes two rows, and a transaction has at most 100. */
const INSERTED_AT_ONCE = 50;

/** How many pending deliveries are read to show the next attempt. */
const SHOWN = 2;

/** Identifies a pending delivery. The row is made, moved and removed with each change of the delivery itself. */
export interface PendingDelivery {
  readonly key: string;
  readonly deliveryId: string;
  /** Time of the next attempt, or of the event for a new delivery. */
  readonly at: string;
  /** It has not been attempted, and waits for the endpoint's circuit. */
  readonly isNew: boolean;
}

export const scheduled = (deliveryId: string, at: string): PendingDelivery => ({
  key: `${PENDING}${at}|${deliveryId}`,
  deliveryId,
  at,
  isNew: false,
});

const fresh = (deliveryId: string): PendingDelivery => ({
  key: `${PENDING}${NEW}|${deliveryId}`,
  deliveryId,
  at: new Date(timeOfId("delivery", deliveryId)).toISOString(),
  isNew: true,
});

function toPending(rowKey: string): PendingDelivery {
  const [, at = "", deliveryId = ""] = rowKey.split("|");
  return at === NEW ? fresh(deliveryId) : scheduled(deliveryId, at);
}

export interface EndpointWork {
  readonly state: EndpointState;
  /** Undefined while the endpoint has no state. */
  readonly etag: string | undefined;
  /** The first ones with a time, in the order of their times. */
  readonly timed: readonly PendingDelivery[];
  /** The first new ones, in the order of their events. While the circuit is open, two are enough. */
  readonly untried: readonly PendingDelivery[];
}

/** Returns the time of the next attempt, which is in the past if it is due. Undefined when nothing is pending. */
export function nextAttemptOf(
  { state, timed, untried: [oldest] }: Omit<EndpointWork, "etag">,
  now: Date,
): string | undefined {
  // The clock of the process that made it may be ahead.
  const madeAt = oldest && [oldest.at, now.toISOString()].toSorted()[0];
  const newAt = oldest && (circuitOf(state)?.probeAt ?? madeAt);
  return [timed[0]?.at, newAt].filter((at) => at !== undefined).toSorted()[0];
}

export function resultsOf(work: EndpointWork, now: Date): EndpointResults {
  const { lastSuccessAt, lastFailureAt, failures, failingSince } = work.state;
  const isOpen = circuitOf(work.state) !== null;
  const isWell = failures === 0 && !isOpen;
  return {
    lastSuccessAt,
    lastFailureAt,
    health: {
      state: isOpen ? "waiting" : isWell ? "ok" : "failing",
      failuresInARow: failures,
      failingSince,
      nextTryAt: isWell ? null : (nextAttemptOf(work, now) ?? null),
    },
  };
}

/** Reports whether a due row starts the next drain in time. */
export function isArmed(work: EndpointWork, now: Date): boolean {
  const { nextAt } = work.state;
  const wakeAt = nextAttemptOf(work, now);
  return (
    wakeAt === undefined || (nextAt !== null && nextAt > now.toISOString() && nextAt <= wakeAt)
  );
}

/** A pending delivery as it was read, or the error of a damaged row. */
export type FoundDelivery =
  { readonly delivery: Delivery; readonly etag: string } | { readonly damage: DamagedRow };

type DeliveryWrite = RowWrite | RowPut;

/** Returns the write that adds the row of a pending delivery, or leaves it unchanged. */
export const pendingWrite = ({ key }: PendingDelivery): DeliveryWrite => ({
  kind: "put",
  row: { rowKey: key },
});

/**
 * The pending deliveries and the state of every endpoint (table `deliveries`, PartitionKey = endpoint id). A delivery
 * and its row here are written in one transaction.
 */
export class PendingStore {
  readonly #table: Table;

  constructor(table: Table) {
    this.#table = table;
  }

  /**
   * Reads an endpoint's state and the first of its pending deliveries. It takes one request, unless those with a time
   * leave no room for the new ones.
   */
  async read(endpointId: string, limit: number): Promise<EndpointWork> {
    const rows = await this.#list(endpointId, STATE_ROW, limit + 1);
    const stored = rows.find(({ row }) => row.rowKey === STATE_ROW);
    const pending = rows.map(({ row }) => row.rowKey).filter((key) => key !== STATE_ROW);
    const seen = pending.slice(0, limit).map(toPending);
    const timed = seen.filter(({ isNew }) => !isNew);
    const untried = seen.slice(timed.length);
    const state = toState(stored?.row);
    const isCut = timed.length > 0 && rows.length > limit;
    const isEnough = untried.length > 1 && circuitOf(state) !== null;
    const work = { state, etag: stored?.etag, timed, untried };
    if (!isCut || isEnough) return work;
    const others = await this.#list(endpointId, `${PENDING}${NEW}`, limit);
    return { ...work, untried: others.map(({ row }) => toPending(row.rowKey)) };
  }

  /** Reads the endpoint's results. Takes one request if no retries are scheduled, and at most two otherwise. */
  async results(endpointId: string, now: Date): Promise<EndpointResults> {
    return resultsOf(await this.read(endpointId, SHOWN), now);
  }

  #list(partitionKey: string, from: string, limit: number) {
    return this.#table.list({ partitionKey, from, before: afterPrefix(PENDING), limit });
  }

  /** Reads the deliveries that pending rows name, by their ids, except those that are gone. */
  async find(
    endpointId: string,
    pending: readonly PendingDelivery[],
  ): Promise<ReadonlyMap<string, FoundDelivery>> {
    const ids = [...new Set(pending.map(({ deliveryId }) => deliveryId))];
    const stored = await findAll(this.#table, endpointId, ids.map(deliveryKey));
    const found = new Map<string, FoundDelivery>();
    for (const id of ids) {
      const row = stored.get(deliveryKey(id));
      if (row === undefined) continue;
      try {
        found.set(id, { delivery: toDelivery(endpointId, row.row), etag: row.etag });
      } catch (error) {
        if (!(error instanceof DamagedRow)) throw error;
        found.set(id, { damage: error });
      }
    }
    return found;
  }

  /** Writes a part of the state. Returns its new version, or undefined when it has changed since it was read. */
  async writeState(
    endpointId: string,
    part: Partial<EndpointState>,
    etag: string | undefined,
  ): Promise<string | undefined> {
    const rowKey = STATE_ROW;
    if (etag !== undefined) {
      const row = { ...endpointStateRow.encodePart(part), rowKey };
      return this.#table.mergeIfUnchanged(endpointId, row, etag);
    }
    const row = { ...endpointStateRow.encode({ ...NEW_STATE, ...part }), rowKey };
    return this.#table.insertIfAbsent(endpointId, row);
  }

  transact(endpointId: string, writes: readonly DeliveryWrite[]): Promise<TransactionResult> {
    return this.#table.transact(endpointId, writes);
  }

  /** Removes rows of deliveries that have ended or have another row. */
  async remove(endpointId: string, pending: readonly PendingDelivery[]): Promise<void> {
    await this.#table.deleteAll(
      endpointId,
      pending.map(({ key }) => key),
    );
  }

  /**
   * Inserts an endpoint's deliveries, due now. Returns those that did not exist, because a fan-out may be repeated.
   * @throws AppError `service_unavailable` when the outcome is unknown; repeating the call is safe
   */
  async insertAbsent(endpointId: string, deliveries: readonly Delivery[]): Promise<Delivery[]> {
    const inserted: Delivery[] = [];
    for (let start = 0; start < deliveries.length; start += INSERTED_AT_ONCE) {
      const batch = deliveries.slice(start, start + INSERTED_AT_ONCE);
      if (await this.#insert(endpointId, batch)) inserted.push(...batch);
      else if (batch.length > 1)
        for (const one of batch) if (await this.#insert(endpointId, [one])) inserted.push(one);
    }
    return inserted;
  }

  /** Returns false when one of them exists. */
  async #insert(endpointId: string, deliveries: readonly Delivery[]): Promise<boolean> {
    const writes = deliveries.flatMap((delivery): DeliveryWrite[] => [
      { kind: "create", row: toDeliveryRow(delivery) },
      pendingWrite(
        waitsForCircuit(delivery) ? fresh(delivery.id) : scheduled(delivery.id, delivery.createdAt),
      ),
    ]);
    const result = await this.#table.transact(endpointId, writes);
    if (result.kind === "in_doubt") throw serviceUnavailable(result.cause);
    return result.kind === "applied";
  }
}
