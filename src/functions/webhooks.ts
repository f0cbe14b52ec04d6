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
  listDeliveries,
  listEvents,
  redriveDead,
  redriveDelivery,
} from "../shared/webhooks/webhooks.ts";
import {
  createEndpointExample,
  deliveryExample,
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
    summary: "List webhook endpoints, without their secrets.",
    description:
      "A key sees its application's endpoints, a restricted one without `url` and `secretHint`. A session sees those of the application it names, or of the whole platform.",
    access: keyOrSession,
    query: ListEndpointsQuery,
    list: true,
    response: endpoint,
    examples: () => ({ answer: endpointExample() }),
    run: ({ services, scope, query }) => listEndpoints(services.webhooks, scope, query),
  }),
  route("POST", "v1/webhooks", {
    operationId: "createWebhook",
    summary: "Register a webhook endpoint. Its secret is in this answer and in no other.",
    description:
      "Costs 5 tokens; an application has at most 20. Deliveries are POST requests whose body is an `Event`, signed with the secret; any 2xx within 10 seconds counts as delivered, and everything else is tried again, ten times in all over three days.",
    access: appAdminOfApplication,
    body: CreateEndpointBody,
    issuesBeside: ({ services, scope, body }) =>
      endpointUrlIssues(services.webhooks, scope, body["url"]),
    status: 201,
    response: endpointWithSecret,
    errors: ["limit_reached", "insufficient_tokens", "daily_budget_reached"],
    examples: () => ({ body: createEndpointExample(), answer: endpointCreatedExample() }),
    run: ({ services, scope, body }) => createEndpoint(services.webhooks, scope, body),
  }),
  route("PATCH", "v1/webhooks/{webhookId}", {
    operationId: "updateWebhook",
    summary: "Change a webhook endpoint, disable it or make it active again.",
    description: "Fields that are not named stay.",
    access: appAdmin,
    body: UpdateEndpointBody,
    issuesBeside: ({ services, scope, body }) =>
      endpointUrlIssues(services.webhooks, scope, body["url"]),
    response: endpoint,
    errors: ["not_found"],
    examples: () => ({ body: { status: "active" as const }, answer: endpointExample() }),
    run: ({ services, scope, params, body }) =>
      updateEndpoint(services.webhooks, scope, { ...params, ...body }),
  }),
  route("DELETE", "v1/webhooks/{webhookId}", {
    operationId: "deleteWebhook",
    summary: "Delete a webhook endpoint.",
    description: "Returns the deleted endpoint. Deliveries to it that are under way end as dead.",
    access: appAdmin,
    response: endpoint,
    errors: ["not_found"],
    examples: () => ({ answer: endpointExample() }),
    run: ({ services, scope, params }) =>
      deleteEndpoint(services.webhooks, scope, params.webhookId),
  }),
  route("POST", "v1/webhooks/{webhookId}/rotate-secret", {
    operationId: "rotateWebhookSecret",
    summary: "Replace the signing secret. The new one is in this answer and in no other.",
    description:
      "For 24 hours deliveries carry two signatures, one by each secret. Rotating again within that time ends the older one at once.",
    access: confirmed(appAdmin),
    response: endpointWithSecret,
    errors: ["not_found"],
    examples: () => ({ answer: endpointCreatedExample() }),
    run: ({ services, scope, params }) => rotateSecret(services.webhooks, scope, params.webhookId),
  }),
  route("POST", "v1/webhooks/{webhookId}/test", {
    operationId: "testWebhook",
    summary: "Send the endpoint a `webhook.test` event.",
    description:
      "Sent whichever events the endpoint has chosen. List its deliveries to see the result.",
    access: appAdmin,
    status: 202,
    response: delivery,
    errors: ["not_found", "invalid_state"],
    examples: () => ({ answer: testDeliveryExample() }),
    run: ({ services, scope, params }) => testEndpoint(services.webhooks, scope, params.webhookId),
  }),
  route("GET", "v1/webhooks/{webhookId}/deliveries", {
    operationId: "listDeliveries",
    summary: "What was and is to be sent to an endpoint, newest first.",
    description: "A restricted key sees what is about the profiles of its allowlist.",
    access: keyOrSession,
    query: ListDeliveriesQuery,
    list: true,
    response: delivery,
    errors: ["not_found"],
    examples: () => ({ answer: deliveryExample() }),
    run: ({ services, scope, params, query }) =>
      listDeliveries(services.webhooks, scope, { ...params, ...query }),
  }),
  route("POST", "v1/webhooks/{webhookId}/deliveries/{deliveryId}/redrive", {
    operationId: "redriveDelivery",
    summary: "Send a delivery's event once more.",
    description:
      "For deliveries that ended, succeeded or dead. Answers the new delivery, which carries the same event id and has ten attempts of its own.",
    access: appAdmin,
    response: delivery,
    errors: ["not_found", "invalid_state"],
    examples: () => ({ answer: redriveExample() }),
    run: ({ services, scope, params }) => redriveDelivery(services.webhooks, scope, params),
  }),
  route("GET", "v1/events", {
    operationId: "listEvents",
    summary: "The application's events of the last 30 days, oldest first.",
    description:
      "The events that webhooks send, for clients that poll: pass the last event's id as `after`. An event is listed 15 seconds after it happened, so that none is missed. A restricted key sees what is about the profiles of its allowlist; its pages may be short, or empty, before the last: follow `nextCursor`.",
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
    summary: "Redrive dead webhook deliveries, the latest first.",
    description:
      "A call redrives at most 500 deliveries and reads at most 1,000; call again with `cursor` until `nextCursor` is null. Concurrent calls redrive no delivery twice. Without a body: those of every platform.",
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
