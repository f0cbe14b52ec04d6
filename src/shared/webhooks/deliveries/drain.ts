import type { WebhooksDeps, WebhookStep } from "../deps.ts";
import type { OpenedEndpoint } from "../endpoints/endpoint-store.ts";
import type { Delivery } from "./delivery.ts";
import type { EndpointLease } from "./endpoint-lease.ts";
import type { PendingDelivery, PendingStore } from "./pending-store.ts";
import { Batcher, type BatchEntry } from "../../runtime/batcher.ts";
import { serviceUnavailable } from "../../runtime/errors.ts";
import { InvalidTransaction, type RowPut, type RowWrite } from "../../runtime/storage/row.ts";

/** The service's limit is 100. */
const ROWS_MAX = 90;

type Writes = readonly (RowWrite | RowPut)[];
type Etags = ReadonlyMap<string, string>;

type Change = BatchEntry<Writes, Etags | undefined>;

/** Writes changes of an endpoint's rows. Changes that arrive during a transaction share the next one. */
export class RowWriter {
  readonly #store: PendingStore;
  readonly #endpointId: string;
  readonly #changes = new Batcher<Writes, Etags | undefined>({
    run: (batch) => this.#commit(batch),
    max: ROWS_MAX,
    weigh: (writes) => writes.length,
    gathers: true,
  });

  constructor(store: PendingStore, endpointId: string) {
    this.#store = store;
    this.#endpointId = endpointId;
  }

  /**
   * Applies a change of at most 90 rows, all or none. Returns the rows' new versions, or undefined when one of them was
   * changed meanwhile. @throws AppError `service_unavailable` when the outcome is unknown
   */
  write(writes: Writes): Promise<Etags | undefined> {
    return this.#changes.add(writes);
  }

  async #commit(batch: readonly Change[]): Promise<void> {
    try {
      const writes = batch.flatMap(({ item }) => item);
      const result = await this.#store.transact(this.#endpointId, writes);
      if (result.kind === "in_doubt") throw serviceUnavailable(result.cause);
      if (result.kind === "refused") return await this.#without(batch, result.at);
      for (const { resolve } of batch) resolve(result.etags);
    } catch (error) {
      if (error instanceof InvalidTransaction && batch.length > 1)
        for (const change of batch) await this.#commit([change]);
      else for (const { reject } of batch) reject(error);
    }
  }

  /** Takes out the change that was refused. If it isn't known which one, each is written alone. */
  async #without(batch: readonly Change[], at: number | undefined): Promise<void> {
    let end = 0;
    const refused = batch.find(({ item }) => (end += item.length) > (at ?? 0));
    if (batch.length === 1 || (at !== undefined && refused !== undefined)) {
      refused?.resolve(undefined);
      const others = batch.filter((change) => change !== refused);
      if (others.length > 0) await this.#commit(others);
    } else for (const change of batch) await this.#commit([change]);
  }
}

/** A pending delivery that a drain handles, as it was last read or written. */
export interface Item {
  readonly pending: PendingDelivery;
  readonly delivery: Delivery;
  readonly etag: string;
}

export interface Drain {
  readonly deps: WebhooksDeps;
  readonly endpointId: string;
  readonly lease: EndpointLease;
  readonly writer: RowWriter;
  /** Reports whether no further call may begin: the drain's time is over, or the process is about to end. */
  isOver(): boolean;
  opened: { readonly endpoint: OpenedEndpoint | undefined; readonly at: number } | undefined;
  /** Times of attempts that were postponed since the work was last read. */
  readonly postponed: string[];
  /** When the last delivery succeeded, if the endpoint's state doesn't have it yet. */
  succeededAt: string | undefined;
  /** Entries for the timelines of posts, by post. */
  readonly steps: Map<string, WebhookStep[]>;
}
