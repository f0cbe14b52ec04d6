import { inverted, isId } from "../../runtime/ids.ts";
import type { ListPosition } from "../../runtime/storage/newest-first.ts";
import { scan, type ScannedPage } from "../../runtime/storage/scan.ts";
import type { Table } from "../../runtime/storage/table.ts";
import type { Delivery, DeliveryRef, DeliveryStatus } from "./delivery.ts";
import type { EventType } from "../../events/events.ts";
import { deliveries, deliveryKey, toDelivery, toDeliveryRow } from "./delivery-row.ts";

export interface StoredDelivery {
  readonly delivery: Delivery;
  readonly etag: string;
}

export interface DeliveryFilter {
  readonly status?: DeliveryStatus | undefined;
  readonly eventType?: EventType | undefined;
  /** Only deliveries of events about these profiles. */
  readonly profileIds?: ReadonlySet<string> | undefined;
  /** Times of creation: the first is included, the second is not. */
  readonly from?: string | undefined;
  readonly to?: string | undefined;
}

/** Clocks of processes differ by less. */
const SKEW_MS = 5 * 60_000;
/** Keys have the time of the event, which is fanned out long before this, except after an outage of a day. */
const FAN_OUT_MS_MAX = 24 * 60 * 60_000;

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

  /** Writes the delivery over the stored one, or returns undefined when that has changed. */
  async writeIfUnchanged(delivery: Delivery, etag: string): Promise<StoredDelivery | undefined> {
    const written = await this.#table.mergeIfUnchanged(
      delivery.endpointId,
      toDeliveryRow(delivery),
      etag,
    );
    return written === undefined ? undefined : { delivery, etag: written };
  }

  /** Removes a page of a profile's deliveries, because answers may contain anything. Searches the whole table. */
  removeOfProfile(profileId: string, after: string | undefined) {
    return this.#table.removeSelected({ property: "profileId", values: [profileId] }, after);
  }

  /** Removes a page of the platform's deliveries, including those of deleted endpoints. Searches the whole table. */
  removeOfPlatform(platformId: string, after: string | undefined) {
    return this.#table.removeSelected({ property: "platformId", values: [platformId] }, after);
  }

  removeOfEndpoint(endpointId: string, after: string | undefined) {
    return this.#table.removeSelected({ partitionKey: endpointId }, after);
  }

  /** Returns the next endpoint that has deliveries, in the order of ids. It may be deleted. */
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

  /** Removes a page of an endpoint's deliveries that were made before the time and have ended. */
  removeEndedBefore(endpointId: string, time: Date, after: string | undefined) {
    const { from, before } = deliveries.range;
    const range = { partitionKey: endpointId, from: from + inverted(time.getTime()), before };
    const values = ["succeeded", "dead"] satisfies DeliveryStatus[];
    return this.#table.removeSelected({ ...range, property: "status", values }, after);
  }

  /** Lists an endpoint's deliveries, newest first. `after` is where the last listing stopped. */
  list(
    endpointId: string,
    { status, eventType, profileIds, from, to }: DeliveryFilter,
    { after, limit }: ListPosition,
  ): Promise<ScannedPage<Delivery>> {
    const { range } = deliveries;
    const keyAt = (time: string, laterMs: number) =>
      range.from + inverted(Math.max(0, Date.parse(time) + laterMs));
    return scan(this.#table, {
      partitionKey: endpointId,
      from: after ?? (to === undefined ? range.from : keyAt(to, SKEW_MS)),
      before: from === undefined ? range.before : keyAt(from, -FAN_OUT_MS_MAX),
      limit,
      pick({ row }) {
        const one = toDelivery(endpointId, row, "people");
        const fits =
          (status === undefined || one.status === status) &&
          (eventType === undefined || one.eventType === eventType) &&
          (profileIds === undefined || profileIds.has(one.profileId ?? "")) &&
          (from === undefined || one.createdAt >= from) &&
          (to === undefined || one.createdAt < to);
        return fits ? one : undefined;
      },
    });
  }
}
