/* The part of webhooks that other folders use: endpoints, events and their deliveries. */

export { deliverWebhook } from "./deliveries/deliver-webhook.ts";
export { getDelivery, listDeliveries } from "./deliveries/read-deliveries.ts";
export { hintDueDeliveries, lookAtEndpoint, lookAtEndpoints } from "./deliveries/queue-delivery.ts";
export { redriveDead, redriveDelivery } from "./deliveries/redrive.ts";
export type { WebhooksDeps } from "./deps.ts";
export { endpointUrlIssues } from "./endpoints/endpoint.ts";
export { clearWebhooks, clearWebhooksOfPlatform } from "./erase-webhooks.ts";
export { fanOutEvents } from "./events/fan-out-events.ts";
export { getStats } from "./events/get-stats.ts";
export { listEvents } from "./events/list-events.ts";
export { WEBHOOK_QUEUE, WebhookHint, Rerun } from "./hint-queue.ts";
export { hasPendingEvents, hintEvents, markAndHintEvents, resendWebhookHint } from "./hints.ts";
export {
  createEndpoint,
  updateEndpoint,
  deleteEndpoint,
  rotateSecret,
  listEndpoints,
  testEndpoint,
} from "./manage-endpoints.ts";
export { createWebhookStores } from "./stores.ts";
export {
  purgeDeadDeliveries,
  purgeDeliveries,
  purgeEvents,
  resealEndpoints,
  type EventsPosition,
} from "./upkeep.ts";
