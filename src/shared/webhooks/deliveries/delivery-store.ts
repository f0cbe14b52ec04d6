import { inverted, isId, timeOfId } from "../../runtime/ids.ts";
import { numberOf, textOf, textOrNull, type Row } from "../../runtime/storage/row.ts";
import { scan, type Scanned } from "../../runtime/storage/scan.ts";
import { afterPrefix, type Table } from "../../runtime/storage/table.ts";
import { originOf, originProperties } from "../../runtime/telemetry/origin.ts";
import type { Delivery, DeliveryError, DeliveryPlace, DeliveryStatus } from "./delivery.ts";
import type { EventType } from "../events/event.ts";

const PREFIX = "D|";
const NONE = -1;
/** More than an endpoint gets while it fails; of still more the newest are listed. */
const UNTRIED_MAX = 20_000;

export interface StoredDelivery {
  readonly delivery: Delivery;
  readonly etag: string;
}

export interface DeliveryFilter {
  readonly status?: DeliveryStatus | undefined;
  readonly eventType?: EventType | undefined;
  /** Of events about these profiles alone. */
  readonly profileIds?: ReadonlySet<string> | undefined;
}

const rowKey = (deliveryId: string) =>
  `${PREFIX}${inverted(timeOfId("delivery", deliveryId))}|${deliveryId}`;

/** What is not there is stored as "", a number as -1: rows are replaced whole and hold no nulls. */
function toRow({ origin, ...delivery }: Delivery): Row {
  const { lastStatusCode, durationMs, ...texts } = delivery;
  const stored = Object.entries(texts)
    // The partition key says it.
    .filter(([name]) => name !== "endpointId")
    .map(([name, value]) => [name, value ?? ""] as const);
  return {
    rowKey: rowKey(delivery.id),
    ...Object.fromEntries(stored),
    ...originProperties(origin),
    lastStatusCode: lastStatusCode ?? NONE,
    durationMs: durationMs ?? NONE,
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
    profileId: textOrNull(row, "profileId"),
    postId: textOrNull(row, "postId"),
    origin: originOf(row),
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

function fits({ status, eventType, profileIds }: DeliveryFilter, row: Row): boolean {
  return (
    (status === undefined || row["status"] === status) &&
    (eventType === undefined || row["eventType"] === eventType) &&
    (profileIds === undefined || profileIds.has(textOf(row, "profileId")))
  );
}

/** The deliveries of every endpoint (table `deliveries`, PartitionKey = endpoint id), newest first. */
export class DeliveryStore {
  readonly #table: Table;

  constructor(table: Table) {
    this.#table = table;
  }

  /** Of one endpoint. Answers those that were not made before: a repeated fan-out finds its own. */
  async insertAbsent(endpointId: string, deliveries: readonly Delivery[]): Promise<Delivery[]> {
    const inserted = await this.#table.insertAllIfAbsent(endpointId, deliveries.map(toRow));
    return deliveries.filter(({ id }) => inserted.has(rowKey(id)));
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

  /** Removes a page of a profile's deliveries, whose answers may hold anything; looks through the whole table. */
  removeOfProfile(profileId: string, after: string | undefined) {
    return this.#table.removeSelected({ property: "profileId", values: [profileId] }, after);
  }

  /** The endpoint that comes after that one, of all that have deliveries, deleted ones too. */
  async nextEndpoint(after: string): Promise<string | undefined> {
    let next: string | undefined;
    do {
      const page = await this.#table.select(
        { partitions: { from: `${after} ` }, pageRows: 1 },
        next,
      );
      const [first] = page.rows;
      if (first !== undefined) return first.partitionKey;
      ({ next } = page);
    } while (next !== undefined);
    return undefined;
  }

  /** Removes a page of an endpoint's ended deliveries that were made before. */
  removeEndedBefore(endpointId: string, time: Date, after: string | undefined) {
    const from = PREFIX + inverted(time.getTime());
    const values = ["succeeded", "dead"] satisfies DeliveryStatus[];
    return this.#table.removeSelected(
      { partitionKey: endpointId, from, before: afterPrefix(PREFIX), property: "status", values },
      after,
    );
  }

  /** An endpoint's deliveries of events since then of which no attempt was begun, oldest first. */
  async listUntried(endpointId: string, since: Date): Promise<Delivery[]> {
    const values = ["pending"] satisfies DeliveryStatus[];
    const range = { from: PREFIX, before: afterPrefix(PREFIX + inverted(since.getTime())) };
    const selection = { partitionKey: endpointId, ...range, property: "status", values };
    const untried: Delivery[] = [];
    let after: string | undefined;
    do {
      const { rows, next } = await this.#table.select(selection, after);
      for (const { row } of rows)
        if (row["status"] === "pending" && row["attempts"] === 0)
          untried.push(toDelivery(endpointId, row));
      after = next;
    } while (after !== undefined && untried.length < UNTRIED_MAX);
    return untried.toReversed();
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
      pick: ({ row }) => (fits(filter, row) ? toDelivery(endpointId, row) : undefined),
    });
  }
}
