import { inverted } from "../../runtime/ids.ts";
import { rowCodec, text } from "../../runtime/storage/codec.ts";
import { scan, type ScannedPage } from "../../runtime/storage/scan.ts";
import { afterPrefix, type Table } from "../../runtime/storage/table.ts";
import { deliveryRefOf, type Delivery, type DeliveryRef } from "./delivery.ts";

const PARTITION = "dead";

export interface DeadDelivery {
  readonly ref: DeliveryRef;
  readonly platformId: string;
  readonly diedAt: string;
}

export interface DeadFilter {
  readonly platformId?: string | undefined;
  readonly endpointId?: string | undefined;
  /** Deliveries that died at this time or later. */
  readonly since?: string | undefined;
}

export const deadDeliveryRow = rowCodec("dead delivery", {
  platformId: text(),
  endpointId: text(),
  deliveryId: text(),
  diedAt: text(),
});

const rowKey = ({ diedAt, ref }: Pick<DeadDelivery, "diedAt" | "ref">) =>
  `${inverted(Date.parse(diedAt))}|${ref.deliveryId}`;

/** The index of dead deliveries that were not redriven yet (table `dead`), the latest first, for operators. */
export class DeadDeliveryStore {
  readonly #table: Table;

  constructor(table: Table) {
    this.#table = table;
  }

  /** Adds a delivery before it is marked as dead. An entry that a crash leaves behind is skipped and removed. */
  async add(delivery: Delivery, diedAt: string): Promise<void> {
    const ref = deliveryRefOf(delivery);
    const columns = deadDeliveryRow.encode({ platformId: delivery.platformId, ...ref, diedAt });
    await this.#table.put(PARTITION, { ...columns, rowKey: rowKey({ diedAt, ref }) });
  }

  async remove(dead: Pick<DeadDelivery, "diedAt" | "ref">): Promise<void> {
    await this.#table.delete(PARTITION, rowKey(dead));
  }

  removeBefore(time: Date, after: string | undefined) {
    const from = inverted(time.getTime());
    return this.#table.removeSelected(
      { partitionKey: PARTITION, from, before: afterPrefix("9") },
      after,
    );
  }

  removeOfPlatform(platformId: string, after: string | undefined) {
    const values = [platformId];
    return this.#table.removeSelected(
      { partitionKey: PARTITION, property: "platformId", values },
      after,
    );
  }

  /** Lists dead deliveries that fit the filter. `after` is where the last listing stopped. */
  list(
    filter: DeadFilter,
    { after, limit }: { readonly after: string | undefined; readonly limit: number },
  ): Promise<ScannedPage<DeadDelivery>> {
    return scan(this.#table, {
      partitionKey: PARTITION,
      from: after ?? "0",
      before: afterPrefix("9"),
      limit,
      pick({ row }) {
        const { platformId, diedAt, ...ref } = deadDeliveryRow.decode(row);
        if (filter.since !== undefined && diedAt < filter.since) return "stop";
        const fits =
          (filter.platformId === undefined || filter.platformId === platformId) &&
          (filter.endpointId === undefined || filter.endpointId === ref.endpointId);
        return fits ? { ref, platformId, diedAt } : undefined;
      },
    });
  }
}
