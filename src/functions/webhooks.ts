import {
  appAdmin,
  appAdminOfApplication,
  keyOrSession,
  keyOrSessionOfApplication,
} from "../shared/http/access/access.ts";
import { confirmed } from "../shared/http/access/narrowed-access.ts";
import { operator } from "../shared/http/access/operator-access.ts";
import { route } from "../shared/http/route.ts";
import {
  delivery,
  deliveryWithRequest,
  endpoint,
  endpointWithSecret,
  event,
  redriveCounts,
} from "../shared/webhooks/answer-schema.ts";
import {
  createEndpoint,
  updateEndpoint,
  deleteEndpoint,
  rotateSecret,
  listEndpoints,
  testEndpoint,
  endpointUrlIssues,
  getDelivery,
  listDeliveries,
  listEvents,
  redriveDead,
  redriveDelivery,
} from "../shared/webhooks/webhooks.ts";
import {
  createEndpointExample,
  deliveryExample,
  deliveryWithRequestExample,
  endpointCreatedExample,
  endpointExample,
  eventExample,
  redriveExample,
  testDeliveryExample,
} from "../shared/webhooks/examples.ts";
import {
  CreateEndpointBody,
  ListDeliveriesQuery,
  ListEndpointsQuery,
  ListEventsQuery,
  RedriveDeadBody,
  UpdateEndpointBody,
} from "../shared/webhooks/schema.ts";

export const webhookRoutes = [
  route("GET", "v1/webhooks", {
    operationId: "listWebhooks",
    summary: "List webhook endpoints",
    description:
      "Without their secrets. A key sees its application's endpoints, and a restricted key sees them without `url` and `secretHint`. A session sees those of the application it names, or of the whole platform.",
    access: keyOrSession,
    query: ListEndpointsQuery,
    list: true,
    response: endpoint,
    examples: () => ({ answer: endpointExample() }),
    run: ({ services, scope, query }) => listEndpoints(services.webhooks, scope, query),
  }),
  route("POST", "v1/webhooks", {
    operationId: "createWebhook",
    summary: "Create a webhook endpoint",
    description:
      "Returns the endpoint's secret, which is never returned again. Costs 5 tokens. An application can have up to 20 endpoints. Registering the same URL twice creates two endpoints, and both get every event. Deliveries are POST requests with an `Event` as body, signed with the secret. Any 2xx within 10 seconds counts as delivered. Everything else is retried, ten attempts in total over three days.",
    access: appAdminOfApplication,
    body: CreateEndpointBody,
    moreIssues: ({ services, scope, body }) =>
      endpointUrlIssues(services.webhooks, scope, body["url"]),
    status: 201,
    response: endpointWithSecret,
    errors: ["limit_reached", "insufficient_tokens", "daily_budget_reached"],
    examples: () => ({ body: createEndpointExample(), answer: endpointCreatedExample() }),
    run: ({ services, scope, body }) => createEndpoint(services.webhooks, scope, body),
  }),
  route("PATCH", "v1/webhooks/{webhookId}", {
    operationId: "updateWebhook",
    summary: "Update a webhook endpoint",
    description:
      "Changes, disables or reactivates the endpoint. Fields that aren't sent stay unchanged.",
    access: appAdmin,
    body: UpdateEndpointBody,
    moreIssues: ({ services, scope, body }) =>
      endpointUrlIssues(services.webhooks, scope, body["url"]),
    response: endpoint,
    errors: ["not_found"],
    examples: () => ({ body: { status: "active" as const }, answer: endpointExample() }),
    run: ({ services, scope, params, body }) =>
      updateEndpoint(services.webhooks, scope, { ...params, ...body }),
  }),
  route("DELETE", "v1/webhooks/{webhookId}", {
    operationId: "deleteWebhook",
    summary: "Delete a webhook endpoint",
    description: "Returns the deleted endpoint. Its pending deliveries end as dead.",
    access: appAdmin,
    response: endpoint,
    errors: ["not_found"],
    examples: () => ({ answer: endpointExample() }),
    run: ({ services, scope, params }) =>
      deleteEndpoint(services.webhooks, scope, params.webhookId),
  }),
  route("POST", "v1/webhooks/{webhookId}/rotate-secret", {
    operationId: "rotateWebhookSecret",
    summary: "Rotate a signing secret",
    description:
      "Returns the new secret, which is never returned again. For 24 hours, deliveries have two signatures, one for each secret. Rotating again within that time ends the older one immediately.",
    access: confirmed(appAdmin),
    response: endpointWithSecret,
    errors: ["not_found"],
    examples: () => ({ answer: endpointCreatedExample() }),
    run: ({ services, scope, params }) => rotateSecret(services.webhooks, scope, params.webhookId),
  }),
  route("POST", "v1/webhooks/{webhookId}/test", {
    operationId: "testWebhook",
    summary: "Send a test event",
    description:
      "Sends the endpoint a `webhook.test` event, whichever events the endpoint has chosen. List its deliveries to see the result.",
    access: appAdmin,
    status: 202,
    response: delivery,
    errors: ["not_found", "invalid_state"],
    examples: () => ({ answer: testDeliveryExample() }),
    run: ({ services, scope, params }) => testEndpoint(services.webhooks, scope, params.webhookId),
  }),
  route("GET", "v1/webhooks/{webhookId}/deliveries", {
    operationId: "listDeliveries",
    summary: "List an endpoint's deliveries",
    description: "Newest first. A restricted key sees those about the profiles on its allowlist.",
    access: keyOrSession,
    query: ListDeliveriesQuery,
    list: true,
    response: delivery,
    errors: ["not_found"],
    examples: () => ({ answer: deliveryExample() }),
    run: ({ services, scope, params, query }) =>
      listDeliveries(services.webhooks, scope, { ...params, ...query }),
  }),
  route("GET", "v1/webhooks/{webhookId}/deliveries/{deliveryId}", {
    operationId: "getDelivery",
    summary: "Get a delivery with its request",
    description:
      "Returns the delivery and the request that it sends, to find out why a receiver refuses it, or to send it again by hand. A restricted key sees deliveries about the profiles on its allowlist.",
    access: keyOrSession,
    response: deliveryWithRequest,
    errors: ["not_found"],
    examples: () => ({ answer: deliveryWithRequestExample() }),
    run: ({ services, scope, params }) => getDelivery(services.webhooks, scope, params),
  }),
  route("POST", "v1/webhooks/{webhookId}/deliveries/{deliveryId}/redrive", {
    operationId: "redriveDelivery",
    summary: "Redrive a delivery",
    description:
      "Sends the event of a delivery that has ended (succeeded or dead) again. Returns the new delivery, which has the same event id and ten attempts of its own.",
    access: appAdmin,
    response: delivery,
    errors: ["not_found", "invalid_state"],
    examples: () => ({ answer: redriveExample() }),
    run: ({ services, scope, params }) => redriveDelivery(services.webhooks, scope, params),
  }),
  route("GET", "v1/events", {
    operationId: "listEvents",
    summary: "List events",
    description:
      "The application's events of the last 30 days, oldest first. They are the events that webhooks send, for clients that poll: pass the last event's id as `after`. An event is listed 15 seconds after it happened, so that none is missed. A restricted key sees events about the profiles on its allowlist. Its pages may be short or empty before the last, so follow `nextCursor`.",
    access: keyOrSessionOfApplication,
    query: ListEventsQuery,
    list: true,
    response: event,
    examples: () => ({ answer: eventExample() }),
    run: ({ services, scope, query }) => listEvents(services.webhooks, scope, query),
  }),
];

export const webhookAdminRoutes = [
  route("POST", "v1/admin/webhooks/redrive-dead", {
    operationId: "redriveDeadDeliveries",
    summary: "Redrive dead deliveries",
    description:
      "Redrives the latest deliveries first. A call redrives at most 500 deliveries and reads at most 1,000. Call again with `cursor` until `nextCursor` is null. Concurrent calls redrive each delivery only once. Without a body, deliveries of all platforms are redriven.",
    access: operator("Admin"),
    body: RedriveDeadBody,
    response: redriveCounts,
    errors: ["invalid_cursor"],
    examples: () => ({
      body: { since: "2026-03-04T00:00:00.000Z" },
      answer: { scanned: 42, requeued: 40, skipped: 2, nextCursor: null },
    }),
    run: ({ services, scope, body }) => redriveDead(services.webhooks, scope, body),
  }),
];
