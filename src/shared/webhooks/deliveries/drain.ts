import type { WebhooksDeps } from "../deps.ts";
import type { OpenedEndpoint } from "../endpoints/endpoint-store.ts";
import type { WebhookStep } from "../deps.ts";
import type { Delivery } from "./delivery.ts";
import type { EndpointLease } from "./endpoint-lease.ts";
import type { Pending } from "./pending-store.ts";
import type { RowWriter } from "./row-writer.ts";

/** A pending delivery that a drain handles, as it was last read or written. */
export interface Item {
  readonly pending: Pending;
  readonly delivery: Delivery;
  readonly etag: string;
}

/** A drain of an endpoint while it goes on. */
export interface Drain {
  readonly services: WebhooksDeps;
  readonly endpointId: string;
  readonly lease: EndpointLease;
  readonly writer: RowWriter;
  /** Whether no further call is to begin: it has taken its time, or the process is about to end. */
  isOver(): boolean;
  /** The endpoint as it was last read. */
  opened: { readonly endpoint: OpenedEndpoint | undefined; readonly at: number } | undefined;
  /** Times of attempts that were postponed since the work was last read. */
  readonly postponed: string[];
  /** When the last delivery succeeded that the endpoint's state does not say. */
  succeededAt: string | undefined;
  /** For the timelines of posts, by post. */
  readonly steps: Map<string, WebhookStep[]>;
}
