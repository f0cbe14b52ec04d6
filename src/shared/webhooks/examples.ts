import type * as z from "zod";
import { exampleId } from "../runtime/ids.ts";
import type { ShapeOf } from "../runtime/shape.ts";
import type {
  delivery,
  deliveryWithRequest,
  endpoint,
  endpointWithSecret,
  event,
  stats,
} from "./answer-schema.ts";
import type { CreateEndpointBody } from "./schema.ts";

const URL = "https://hooks.example.com/social";

export const createEndpointExample = (): z.input<ReturnType<typeof CreateEndpointBody>> => ({
  url: URL,
  events: ["post.succeeded", "post.partial", "post.failed"],
  description: "Order system",
});

export const endpointExample = (): ShapeOf<typeof endpoint> => ({
  id: exampleId("endpoint"),
  applicationId: exampleId("application"),
  url: URL,
  description: "Order system",
  events: ["post.succeeded", "post.partial", "post.failed"],
  status: "active",
  disabledReason: null,
  secretHint: "whsec_C2Fv…",
  lastSuccessAt: "2026-03-04T11:12:13.000Z",
  lastFailureAt: null,
  health: { state: "ok", failuresInARow: 0, failingSince: null, nextTryAt: null },
  createdAt: "2026-03-04T10:00:00.000Z",
  updatedAt: "2026-03-04T10:00:00.000Z",
});

export const endpointCreatedExample = (): ShapeOf<typeof endpointWithSecret> => ({
  ...endpointExample(),
  url: URL,
  secretHint: "whsec_C2Fv…",
  lastSuccessAt: null,
  secret: "whsec_C2FvtNIxvkZX9sSKZ0BXRb2yCDQoz7w1eKX6JuFYMnk=",
});

const pending = {
  status: "pending",
  attempts: 0,
  lastStatusCode: null,
  lastError: null,
  durationMs: null,
  responseBody: null,
  redriveOf: null,
  deliveredAt: null,
} as const;

export const testDeliveryExample = (): ShapeOf<typeof delivery> => ({
  id: exampleId("delivery"),
  webhookId: exampleId("endpoint"),
  eventId: exampleId("event"),
  eventType: "webhook.test",
  postId: null,
  ...pending,
  nextAttemptAt: "2026-03-04T11:12:13.000Z",
  createdAt: "2026-03-04T11:12:13.000Z",
});

export const deliveryExample = (): ShapeOf<typeof delivery> => ({
  ...testDeliveryExample(),
  eventType: "post.succeeded",
  postId: exampleId("post"),
  status: "succeeded",
  attempts: 2,
  nextAttemptAt: null,
  lastStatusCode: 200,
  durationMs: 84,
  responseBody: "ok",
  deliveredAt: "2026-03-04T11:12:18.300Z",
});

export const deliveryWithRequestExample = (): ShapeOf<typeof deliveryWithRequest> => ({
  ...testDeliveryExample(),
  status: "succeeded",
  attempts: 1,
  nextAttemptAt: null,
  lastStatusCode: 204,
  durationMs: 84,
  deliveredAt: "2026-03-04T11:12:13.084Z",
  request: {
    url: URL,
    headers: {
      "content-type": "application/json",
      "user-agent": "Social-Restapi-Webhooks/1",
      "x-social-restapi-event": "webhook.test",
      "x-social-restapi-delivery": exampleId("delivery"),
      "x-social-restapi-attempt": "1",
      "webhook-id": exampleId("event"),
    },
    body: JSON.stringify(eventExample()),
  },
});

export const redriveExample = (): ShapeOf<typeof delivery> => ({
  ...deliveryExample(),
  ...pending,
  id: exampleId("delivery", 2),
  nextAttemptAt: "2026-03-04T12:00:00.000Z",
  createdAt: "2026-03-04T12:00:00.000Z",
  redriveOf: exampleId("delivery"),
});

export const eventExample = (): ShapeOf<typeof event> => ({
  id: exampleId("event"),
  type: "webhook.test",
  apiVersion: "v1",
  createdAt: "2026-03-04T11:12:13.000Z",
  sequence: null,
  applicationId: exampleId("application"),
  profileId: null,
  data: {},
});

export const statsExample = (): ShapeOf<typeof stats> => ({
  asOf: "2026-03-04T11:12:13.000Z",
  days: [
    {
      day: "2026-03-03",
      posts: { succeeded: 41, partial: 2, failed: 1, canceled: 0 },
      legs: {
        facebook: { succeeded: 43, failed: 0, failedBy: {} },
        bluesky: {
          succeeded: 40,
          failed: 4,
          failedBy: { network_unavailable: 1, connection_needs_reauth: 3 },
        },
      },
    },
  ],
});
