import * as z from "zod";
import { connectionStatus, quota } from "../connections/answer-schema.ts";
import {
  docAddress,
  finding,
  legErrorCode,
  networkName,
  place,
  sentences,
} from "../networks/answer-schema.ts";
import { count, idOf, time } from "../runtime/fields.ts";
import type { NetworkName } from "../networks/networks.ts";
import { NETWORK_NAMES } from "../networks/names.ts";
import { shape } from "../runtime/shape.ts";
import type { PostView } from "./read/post-view.ts";
import { TIMELINE_STEPS, type TimelineStep } from "./timeline-store.ts";
import type { ValidationResult } from "./accept/validate-post.ts";

const legError = shape(() =>
  z
    .strictObject({
      code: legErrorCode(),
      rule: z.string().nullable().describe("The exact rule, if it is known."),
      ...sentences(),
      ...place(),
      networkCode: z.string().nullable().describe("The network's own code."),
      docUrl: docAddress(),
    })
    .meta({ id: "LegError", description: "Why a leg failed or was skipped." }),
);

const firstComment = shape(() =>
  z
    .strictObject({
      status: z
        .enum(["pending", "succeeded", "failed", "unknown"])
        .describe(
          "`unknown`: the network did not confirm the comment, and its state can't be determined.",
        ),
      networkCommentId: z.string().nullable().describe("The network's id of the comment."),
      url: z.string().nullable(),
      at: time().nullable().describe("When it ended."),
      error: legError().nullable(),
    })
    .meta({ id: "FirstComment", description: "The outcome of a leg's first comment." }),
);

const removal = shape(() =>
  z
    .strictObject({
      status: z
        .enum(["pending", "removed", "failed", "unsupported"])
        .describe("`unsupported`: the network can't do it for this account or kind of post."),
      requestedAt: time(),
      at: time().nullable().describe("When it ended."),
      error: legError().nullable(),
    })
    .meta({ id: "Removal", description: "The outcome of removing a leg's published post." }),
);

const leg = shape(() =>
  z
    .strictObject({
      platform: networkName(),
      status: z
        .enum(["pending", "publishing", "succeeded", "failed", "skipped"])
        .describe(
          "`skipped`: it was never tried, and nothing was charged. Its `error` says why: `canceled` when the post was canceled, `profile_disabled` or `application_disabled` when it was due.",
        ),
      connectionId: idOf("connection").nullable(),
      account: z
        .strictObject({ id: z.string(), username: z.string(), url: z.string().nullable() })
        .nullable()
        .describe("Where it was published."),
      networkPostId: z.string().nullable().describe("The network's id of the published post."),
      url: z.string().nullable().describe("The URL of the published post."),
      publishedAt: time()
        .nullable()
        .describe(
          "When the relay learned that the post is visible. If the network's answer was lost, that is when the post was found, seconds or minutes later. Null if it isn't published.",
        ),
      attempts: count(),
      lastAttemptAt: time().nullable(),
      nextAttemptAt: time().nullable(),
      error: legError().nullable(),
      retryAvailable: z.boolean().describe("Whether retrying the unchanged leg makes sense now."),
      warnings: z.array(finding()).describe("What was changed in the post, or could not be done."),
      tokensCharged: count(),
      firstComment: firstComment().nullable().describe("Null when none was requested."),
      removal: removal().nullable().describe("The latest one. Null when none was requested."),
    })
    .meta({ id: "Leg", description: "The part of a post for one network." }),
);

export const post = shape(
  () =>
    z
      .strictObject({
        id: idOf("post"),
        applicationId: idOf("application"),
        profileId: idOf("profile"),
        status: z
          .enum(["scheduled", "processing", "succeeded", "partial", "failed", "canceled"])
          .describe(
            "The combined status of all legs. `partial`: some were published, some were not.",
          ),
        text: z.string(),
        platforms: z.array(networkName()),
        mediaUrls: z.array(z.string()),
        altTexts: z.array(z.string().nullable()),
        platformOptions: z
          .partialRecord(z.enum(NETWORK_NAMES), z.record(z.string(), z.unknown()))
          .describe("As it was sent: see `PlatformOptions`."),
        scheduleAt: time().nullable(),
        externalId: z.string().nullable(),
        metadata: z.record(z.string(), z.string()),
        legs: z.array(leg()),
        tokens: z.strictObject({ reserved: count(), charged: count(), released: count() }),
        requestId: z.string().describe("The id of the request that created it."),
        createdAt: time(),
        updatedAt: time(),
        startedAt: time().nullable(),
        completedAt: time().nullable(),
      })
      .meta({
        id: "Post",
        description: "A publish job, with one leg per network.",
      }) satisfies z.ZodType<PostView>,
);

const networkValidation = shape(() =>
  z
    .strictObject({
      valid: z.boolean(),
      errors: z.array(finding()),
      warnings: z.array(finding()),
      usedCharacters: count().nullable().describe("Counted the way the network counts."),
      maxCharacters: count().nullable(),
      quota: quota()
        .nullable()
        .describe("The quota that the draft would use. Null if there is none."),
      connection: z
        .strictObject({ id: idOf("connection"), status: connectionStatus() })
        .nullable()
        .describe("Null if no account of the network is linked."),
    })
    .meta({ id: "NetworkValidation" }),
);

/** One key per requested network, and no other. */
export const networkValidations = shape(() => {
  const optional = z.exactOptional(networkValidation());
  const entries = NETWORK_NAMES.map((name) => [name, optional] as const);
  // Safe: the keys are exactly the networks' names.
  return z.strictObject(Object.fromEntries(entries) as Record<NetworkName, typeof optional>);
});

export const validation = shape(
  () =>
    z
      .strictObject({
        valid: z.boolean().describe("Whether every network would accept the post."),
        tokensEstimate: count().describe(
          "The tokens that the same request to `POST /v1/posts` would reserve or charge: the price of each network on which the post could start. Accepting fetches no media URL, so what `media=true` finds doesn't change it: a leg that fails because of its file returns its tokens.",
        ),
        platforms: networkValidations(),
        media: z
          .array(
            z.strictObject({
              url: z.string(),
              ok: z.boolean(),
              field: z
                .string()
                .describe(
                  "The field that names it, such as `mediaUrls`, or the picture of an option. The first one, if several do.",
                ),
              contentType: z.string().nullable(),
              bytes: count().nullable(),
              error: z.string().nullable(),
            }),
          )
          .describe("With `media=true`: what was found at each media URL."),
      })
      .meta({ id: "ValidationResult" }) satisfies z.ZodType<ValidationResult>,
);

const timelineStep = shape(
  () =>
    z
      .strictObject({
        at: time(),
        step: z
          .enum(TIMELINE_STEPS)
          .describe(
            "What happened. `leg_waiting`: the leg waits, and `note` says what for, such as for a check of the account after the network's response was lost.",
          ),
        platform: networkName().nullable().describe("Null for the post as a whole."),
        attempt: count().nullable(),
        outcome: z
          .string()
          .describe(
            "The outcome. For `leg_waiting`, how far the call has come: `sent` if it may have taken effect.",
          ),
        durationMs: count().nullable(),
        networkStatus: z.int().nullable().describe("HTTP status of the network's response."),
        networkCode: z.string().nullable().describe("The network's own code."),
        note: z
          .string()
          .nullable()
          .describe(
            "More detail, in English: the call that was made, the network's own message, the URL of the post, or what the leg waits for.",
          ),
        webhookId: idOf("endpoint")
          .nullable()
          .describe("For `webhook_sent`, the endpoint that was called. Otherwise null."),
        deliveryId: idOf("delivery")
          .nullable()
          .describe(
            "For `webhook_sent`, the delivery, as listed by `GET /v1/webhooks/{webhookId}/deliveries`. Otherwise null.",
          ),
      })
      .meta({
        id: "TimelineStep",
        description: "One thing that happened to a post.",
      }) satisfies z.ZodType<TimelineStep>,
);

export const timeline = shape(() => z.array(timelineStep()));
