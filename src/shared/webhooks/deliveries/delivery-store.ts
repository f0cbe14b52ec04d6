import { inverted, isId } from "../../runtime/ids.ts";
import { scan, type Scanned } from "../../runtime/storage/scan.ts";
import { afterPrefix, type Table } from "../../runtime/storage/table.ts";
import type { Delivery, DeliveryRef, DeliveryStatus } from "./delivery.ts";
import type { EventType } from "../../events/events.ts";
import { DELIVERY_ROWS, deliveryKey, toDelivery, toDeliveryRow } from "./delivery-row.ts";

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

function fits({ status, eventType, profileIds }: DeliveryFilter, delivery: Delivery): boolean {
  return (
    (status === undefined || delivery.status === status) &&
    (eventType === undefined || delivery.eventType === eventType) &&
    (profileIds === undefined || profileIds.has(delivery.profileId ?? ""))
  );
}

/** The deliveries of every endpoint (table `deliveries`, PartitionKey = endpoint id), newest first. */
export class DeliveryStore {
  readonly #table: Table;

  constructor(table: Table) {
    this.#table = table;
  }

  async find({ endpointId, deliveryId }: DeliveryRef): Promise<StoredDelivery | undefined> {
    if (!isId("delivery", deliveryId)) return undefined;
    const stored = await this.#table.find(endpointId, deliveryKey(deliveryId));
    if (stored === undefined) return undefined;
    return { delivery: toDelivery(endpointId, stored.row), etag: stored.etag };
  }

  /** Writes the delivery over what is there; undefined when that was changed since. */
  async writeIfUnchanged(delivery: Delivery, etag: string): Promise<StoredDelivery | undefined> {
    const written = await this.#table.mergeIfUnchanged(
      delivery.endpointId,
      toDeliveryRow(delivery),
      etag,
    );
    return written === undefined ? undefined : { delivery, etag: written };
  }

  /** Removes a page of a profile's deliveries, whose answers may hold anything; looks through the whole table. */
  removeOfProfile(profileId: string, after: string | undefined) {
    return this.#table.removeSelected({ property: "profileId", values: [profileId] }, after);
  }

  /** Returns the next endpoint that has deliveries, in the order of ids; it may be deleted. */
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
    const from = DELIVERY_ROWS + inverted(time.getTime());
    const values = ["succeeded", "dead"] satisfies DeliveryStatus[];
    return this.#table.removeSelected(
      {
        partitionKey: endpointId,
        from,
        before: afterPrefix(DELIVERY_ROWS),
        property: "status",
        values,
      },
      after,
    );
  }

  /** Lists an endpoint's deliveries, newest first; `after` is where the last listing stopped. */
  list(
    endpointId: string,
    filter: DeliveryFilter,
    { after, limit }: { readonly after: string | undefined; readonly limit: number },
  ): Promise<Scanned<Delivery>> {
    return scan(this.#table, {
      partitionKey: endpointId,
      from: after ?? DELIVERY_ROWS,
      before: afterPrefix(DELIVERY_ROWS),
      limit,
      pick({ row }) {
        const delivery = toDelivery(endpointId, row, "people");
        return fits(filter, delivery) ? delivery : undefined;
      },
    });
  }
}
