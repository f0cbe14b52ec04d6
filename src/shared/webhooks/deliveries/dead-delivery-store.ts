import { inverted } from "../../runtime/ids.ts";
import { textOf } from "../../runtime/storage/row.ts";
import { scan, type Scanned } from "../../runtime/storage/scan.ts";
import { afterPrefix, type Table } from "../../runtime/storage/table.ts";
import type { Delivery, DeliveryPlace } from "./delivery.ts";

const PARTITION = "dead";

export interface DeadDelivery {
  readonly place: DeliveryPlace;
  readonly platformId: string;
  readonly diedAt: string;
}

export interface DeadFilter {
  readonly platformId?: string | undefined;
  readonly endpointId?: string | undefined;
  /** Died then or later. */
  readonly since?: string | undefined;
}

const rowKey = ({ diedAt, place }: Pick<DeadDelivery, "diedAt" | "place">) =>
  `${inverted(Date.parse(diedAt))}|${place.deliveryId}`;

/** Which deliveries are dead and were not redriven yet (table `dead`), the latest first, for the operators. */
export class DeadDeliveryStore {
  readonly #table: Table;

  constructor(table: Table) {
    this.#table = table;
  }

  /** Written before the delivery says so: what a crash leaves in between is passed over and removed. */
  async add({ endpointId, id, platformId }: Delivery, diedAt: string): Promise<void> {
    const place = { endpointId, deliveryId: id };
    const row = { rowKey: rowKey({ diedAt, place }), platformId, ...place, diedAt };
    await this.#table.put(PARTITION, row);
  }

  async remove(dead: Pick<DeadDelivery, "diedAt" | "place">): Promise<void> {
    await this.#table.delete(PARTITION, rowKey(dead));
  }

  /** Removes a page of those that died before. */
  removeBefore(time: Date, after: string | undefined) {
    const from = inverted(time.getTime());
    return this.#table.removeSelected(
      { partitionKey: PARTITION, from, before: afterPrefix("9") },
      after,
    );
  }

  /** `after` is where the last listing stopped. */
  list(
    filter: DeadFilter,
    { after, limit }: { readonly after: string | undefined; readonly limit: number },
  ): Promise<Scanned<DeadDelivery>> {
    return scan(this.#table, {
      partitionKey: PARTITION,
      from: after ?? "0",
      before: afterPrefix("9"),
      limit,
      pick({ row }) {
        const diedAt = textOf(row, "diedAt");
        if (filter.since !== undefined && diedAt < filter.since) return "stop";
        const platformId = textOf(row, "platformId");
        const endpointId = textOf(row, "endpointId");
        const fits =
          (filter.platformId === undefined || filter.platformId === platformId) &&
          (filter.endpointId === undefined || filter.endpointId === endpointId);
        const place = { endpointId, deliveryId: textOf(row, "deliveryId") };
        return fits ? { place, platformId, diedAt } : undefined;
      },
    });
  }
}
