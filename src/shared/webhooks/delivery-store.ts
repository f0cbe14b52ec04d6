import { inverted, isId, timeOfId } from "../ids.ts";
import { numberOf, textOf, textOrNull, type Row } from "../storage/row.ts";
import { scan, type Scanned } from "../storage/scan.ts";
import { afterPrefix, type Table } from "../storage/table.ts";
import type { Delivery, DeliveryError, DeliveryPlace, DeliveryStatus } from "./delivery.ts";
import type { EventType } from "./event.ts";

const PREFIX = "D|";
const NONE = -1;

export interface StoredDelivery {
  readonly delivery: Delivery;
  readonly etag: string;
}

export interface DeliveryFilter {
  readonly status?: DeliveryStatus | undefined;
  readonly eventType?: EventType | undefined;
}

const rowKey = (deliveryId: string) =>
  `${PREFIX}${inverted(timeOfId("delivery", deliveryId))}|${deliveryId}`;

function toRow(delivery: Delivery): Row {
  return {
    rowKey: rowKey(delivery.id),
    id: delivery.id,
    platformId: delivery.platformId,
    applicationId: delivery.applicationId,
    eventId: delivery.eventId,
    eventType: delivery.eventType,
    postId: delivery.postId ?? "",
    status: delivery.status,
    attempts: delivery.attempts,
    nextAttemptAt: delivery.nextAttemptAt ?? "",
    leaseUntil: delivery.leaseUntil ?? "",
    lastStatusCode: delivery.lastStatusCode ?? NONE,
    lastError: delivery.lastError ?? "",
    durationMs: delivery.durationMs ?? NONE,
    responseBody: delivery.responseBody ?? "",
    redriveOf: delivery.redriveOf ?? "",
    redrivenAs: delivery.redrivenAs ?? "",
    createdAt: delivery.createdAt,
    deliveredAt: delivery.deliveredAt ?? "",
    diedAt: delivery.diedAt ?? "",
  };
}

function toDelivery(endpointId: string, row: Row): Delivery {
  const numberOrNull = (property: string) => {
    const value = numberOf(row, property);
    return value === NONE ? null : value;
  };
  return {
    id: textOf(row, "id"),
    endpointId,
    platformId: textOf(row, "platformId"),
    applicationId: textOf(row, "applicationId"),
    eventId: textOf(row, "eventId"),
    // Safe, like the status and the error below: written by `toRow` from these very types.
    eventType: textOf(row, "eventType") as EventType,
    postId: textOrNull(row, "postId"),
    status: textOf(row, "status") as DeliveryStatus,
    attempts: numberOf(row, "attempts"),
    nextAttemptAt: textOrNull(row, "nextAttemptAt"),
    leaseUntil: textOrNull(row, "leaseUntil"),
    lastStatusCode: numberOrNull("lastStatusCode"),
    lastError: textOrNull(row, "lastError") as DeliveryError | null,
    durationMs: numberOrNull("durationMs"),
    responseBody: textOrNull(row, "responseBody"),
    redriveOf: textOrNull(row, "redriveOf"),
    redrivenAs: textOrNull(row, "redrivenAs"),
    createdAt: textOf(row, "createdAt"),
    deliveredAt: textOrNull(row, "deliveredAt"),
    diedAt: textOrNull(row, "diedAt"),
  };
}

/** The deliveries of every endpoint (table `deliveries`, PartitionKey = endpoint id), newest first. */
export class DeliveryStore {
  readonly #table: Table;

  constructor(table: Table) {
    this.#table = table;
  }

  /** False when it was made before, which is what a repeated fan-out finds. */
  async insertIfAbsent(delivery: Delivery): Promise<boolean> {
    const etag = await this.#table.insertIfAbsent(delivery.endpointId, toRow(delivery));
    return etag !== undefined;
  }

  async find({ endpointId, deliveryId }: DeliveryPlace): Promise<StoredDelivery | undefined> {
    if (!isId("delivery", deliveryId)) return undefined;
    const stored = await this.#table.find(endpointId, rowKey(deliveryId));
    if (stored === undefined) return undefined;
    return { delivery: toDelivery(endpointId, stored.row), etag: stored.etag };
  }

  /** Undefined when somebody else wrote it since. */
  async replaceIfUnchanged(delivery: Delivery, etag: string): Promise<StoredDelivery | undefined> {
    const written = await this.#table.replaceIfUnchanged(
      delivery.endpointId,
      toRow(delivery),
      etag,
    );
    return written === undefined ? undefined : { delivery, etag: written };
  }

  /** `after` is where the last listing stopped. */
  list(
    endpointId: string,
    filter: DeliveryFilter,
    { after, limit }: { readonly after: string | undefined; readonly limit: number },
  ): Promise<Scanned<Delivery>> {
    return scan(this.#table, {
      partitionKey: endpointId,
      from: after ?? PREFIX,
      before: afterPrefix(PREFIX),
      limit,
      pick({ row }) {
        if (filter.status !== undefined && row["status"] !== filter.status) return undefined;
        if (filter.eventType !== undefined && row["eventType"] !== filter.eventType)
          return undefined;
        return toDelivery(endpointId, row);
      },
    });
  }
}
