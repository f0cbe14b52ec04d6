import * as z from "zod";
import { count, idOf, time, utcDay } from "../runtime/fields.ts";
import { shape } from "../runtime/shape.ts";
import { NETWORK_NAMES } from "../networks/names.ts";
import { DELIVERY_ERRORS, type DeliveryView } from "./deliveries/delivery.ts";
import type { EndpointView, EndpointWithSecret } from "./endpoints/endpoint.ts";
import { EVENT_TYPES } from "../events/events.ts";
import type { Stats } from "./events/get-stats.ts";
import type { EventPayload } from "./events/list-events.ts";
import type { DeliveryWithRequest } from "./deliveries/read-deliveries.ts";
import type { redriveDead } from "./deliveries/redrive.ts";
import { eventFilter } from "./schema.ts";

const eventType = shape(() =>
  z.enum(EVENT_TYPES).meta({ id: "EventType", description: "What happened." }),
);

const OF_RESTRICTED_KEYS = "Null for a restricted key.";

const endpointHealth = shape(() =>
  z
    .strictObject({
      state: z
        .enum(["ok", "failing", "waiting"])
        .describe(
          "`failing`: the latest attempts failed and are repeated by their schedule. `waiting`: five or more failed in a row, and new events wait until one succeeds.",
        ),
      failuresInARow: count(),
      failingSince: time().nullable().describe("When the first of these attempts failed."),
      nextTryAt: time()
        .nullable()
        .describe(
          "When the next attempt is due. Null while the endpoint is `ok` or disabled, and if there is nothing to send.",
        ),
    })
    .meta({
      id: "WebhookHealth",
      description: "The results of the latest deliveries to an endpoint.",
    }),
);

const endpointFields = shape(() => ({
  id: idOf("endpoint"),
  applicationId: idOf("application"),
  url: z.string().nullable().describe(OF_RESTRICTED_KEYS),
  description: z.string().nullable(),
  events: z.array(eventFilter()),
  status: z.enum(["active", "disabled"]),
  disabledReason: z.string().nullable(),
  secretHint: z
    .string()
    .nullable()
    .describe(`The beginning of the signing secret, to recognize it. ${OF_RESTRICTED_KEYS}`),
  lastSuccessAt: time().nullable().describe("Accurate to ten seconds."),
  lastFailureAt: time().nullable(),
  health: endpointHealth(),
  createdAt: time(),
  updatedAt: time(),
}));

export const endpoint = shape(
  () =>
    z.strictObject(endpointFields()).meta({
      id: "Webhook",
      description: "A URL to which an application's events are sent.",
    }) satisfies z.ZodType<EndpointView>,
);

export const endpointWithSecret = shape(
  () =>
    z
      .strictObject({
        ...endpointFields(),
        url: z.string(),
        secretHint: z.string().describe("The beginning of the signing secret, to recognize it."),
        secret: z
          .string()
          .regex(/^whsec_[0-9A-Za-z+/]{43}=$/)
          .describe("The secret that signs deliveries. It is returned only here."),
      })
      .meta({ id: "WebhookWithSecret" }) satisfies z.ZodType<EndpointWithSecret>,
);

const deliveryError = shape(() =>
  z
    .union([z.enum(DELIVERY_ERRORS), z.templateLiteral(["http_", z.int()])])
    .describe(
      "`http_<status>` for a response that is not 2xx; `endpoint_failing` if no call is made until the endpoint accepts other deliveries again; `endpoint_deleted`, `endpoint_disabled`, `event_expired` and `interrupted` if no further call was made.",
    ),
);

const deliveryFields = shape(() => ({
  id: idOf("delivery"),
  webhookId: idOf("endpoint"),
  eventId: idOf("event"),
  eventType: eventType(),
  postId: idOf("post").nullable(),
  status: z
    .enum(["pending", "succeeded", "dead"])
    .describe("`dead`: every attempt failed, or no more attempts can be made."),
  attempts: count().describe("The number of attempts that were started."),
  nextAttemptAt: time()
    .nullable()
    .describe(
      "For a delivery that waits for its endpoint (`endpoint_failing`), when the endpoint is tried next.",
    ),
  lastStatusCode: z.int().nullable(),
  lastError: deliveryError().nullable(),
  durationMs: count().nullable().describe("Of the last attempt."),
  responseBody: z.string().nullable().describe("The first 2 KiB of the last response."),
  redriveOf: idOf("delivery").nullable().describe("The delivery that this one repeats."),
  createdAt: time(),
  deliveredAt: time().nullable(),
}));

export const delivery = shape(
  () =>
    z.strictObject(deliveryFields()).meta({
      id: "WebhookDelivery",
      description: "One event on its way to one endpoint.",
    }) satisfies z.ZodType<DeliveryView>,
);

const sentRequest = shape(() =>
  z
    .strictObject({
      url: z
        .string()
        .nullable()
        .describe(`The endpoint's address as it is now. ${OF_RESTRICTED_KEYS}`),
      headers: z
        .record(z.string(), z.string())
        .describe(
          "The headers of the last attempt, or of the first one if none was made yet. Without `webhook-timestamp`, `webhook-signature` and `X-Social-Restapi-Signature`, which differ in each attempt.",
        ),
      body: z.string().describe("Byte for byte as it is sent, encoded as UTF-8."),
    })
    .meta({ id: "WebhookRequest", description: "The request that a delivery sends." }),
);

export const deliveryWithRequest = shape(
  () =>
    z
      .strictObject({
        ...deliveryFields(),
        request: sentRequest()
          .nullable()
          .describe("Null when the event is no longer stored, 30 days after it happened."),
      })
      .meta({ id: "WebhookDeliveryWithRequest" }) satisfies z.ZodType<DeliveryWithRequest>,
);

export const event = shape(
  () =>
    z
      .strictObject({
        id: idOf("event"),
        type: eventType(),
        apiVersion: z.string().meta({ examples: ["v1"] }),
        createdAt: time(),
        sequence: count()
          .nullable()
          .describe("Increases with each event of a post. Null for events without a post."),
        applicationId: idOf("application").nullable(),
        profileId: idOf("profile").nullable(),
        data: z
          .record(z.string(), z.unknown())
          .describe(
            "A snapshot from that time: `post` (a `Post`) for `post.*`, `post` and `leg` for `leg.*` and `comment.*`, `connection` for `connection.*` (and in `connection.removed` a `reason` if it is known: `deauthorized_at_network`, the person revoked the authorization on the network; `disconnected_on_page`, the person disconnected it on the connect page), `balance` for `billing.*`.",
          ),
        truncated: z
          .exactOptional(z.literal(true))
          .describe(
            "Set in the webhook of an event larger than 64 KiB: texts and lists in `data` are shortened or empty. `GET /v1/events` has the complete event.",
          ),
      })
      .meta({
        id: "Event",
        description:
          "Something that happened, with a snapshot of the resources concerned. Webhook bodies have this form.",
      }) satisfies z.ZodType<EventPayload>,
);

export const redriveCounts = shape(
  () =>
    z
      .strictObject({
        scanned: count().describe("The number of dead deliveries that were checked."),
        requeued: count(),
        skipped: count().describe(
          "Deliveries of a disabled or deleted endpoint, or already redriven.",
        ),
        nextCursor: z
          .string()
          .nullable()
          .describe("Where the next call continues. Null when all have been checked."),
      })
      .meta({ id: "RedriveCounts" }) satisfies z.ZodType<Awaited<ReturnType<typeof redriveDead>>>,
);

const statsOfLegs = shape(() =>
  z.strictObject({
    succeeded: count(),
    failed: count(),
    failedBy: z
      .record(z.string(), count())
      .describe(
        "The failed legs by the code of their error. More than 30 codes of a day are added up as `other`.",
      ),
  }),
);

export const stats = shape(
  () =>
    z
      .strictObject({
        asOf: time().describe(
          "Up to when events are counted: seconds ago, or earlier after a rush.",
        ),
        days: z
          .array(
            z.strictObject({
              day: utcDay().describe("A UTC day."),
              posts: z
                .strictObject({
                  succeeded: count(),
                  partial: count(),
                  failed: count(),
                  canceled: count(),
                })
                .describe("The posts that ended. One that is retried ends twice."),
              legs: z
                .partialRecord(z.enum(NETWORK_NAMES), statsOfLegs())
                .describe("The legs that ended, by network."),
            }),
          )
          .describe("Oldest first, without days on which nothing ended."),
      })
      .meta({ id: "Stats" }) satisfies z.ZodType<Stats>,
);
