import type { Commit } from "../partition/partition.ts";
import { EventStore } from "../events/events.ts";
import { DayStore } from "./events/day-store.ts";
import type { DataKeys } from "../runtime/secrets.ts";
import type { HintQueue } from "../runtime/storage/queue.ts";
import type { Tables } from "../runtime/storage/tables.ts";
import { DeadDeliveryStore } from "./deliveries/dead-delivery-store.ts";
import { DeliveryStore } from "./deliveries/delivery-store.ts";
import { PendingStore } from "./deliveries/pending-store.ts";
import { EndpointHealthStore } from "./endpoints/endpoint-health-store.ts";
import { EndpointStore } from "./endpoints/endpoint-store.ts";
import type { WebhookHint } from "./hint-queue.ts";

interface WebhookStoreParts {
  readonly webhookQueue: HintQueue<WebhookHint>;
  readonly commit: Commit;
  readonly dataKeys: DataKeys;
}

export type WebhookStores = ReturnType<typeof createWebhookStores>;

/** Creates the stores of events, endpoints and deliveries, and their queue. */
export function createWebhookStores(
  { core, events, deliveries, dead }: Tables,
  { webhookQueue, commit, dataKeys }: WebhookStoreParts,
) {
  return {
    events: new EventStore(core, events),
    days: new DayStore(events),
    endpoints: new EndpointStore(core, commit, dataKeys),
    endpointHealth: new EndpointHealthStore(deliveries),
    deliveries: new DeliveryStore(deliveries),
    pending: new PendingStore(deliveries),
    deadDeliveries: new DeadDeliveryStore(dead),
    webhookQueue,
  };
}
