import type * as z from "zod";
import { inWords } from "../networks/wording.ts";
import { withDocUrl } from "../runtime/doc-url.ts";
import { exampleId } from "../runtime/ids.ts";
import type { ShapeOf } from "../runtime/shape.ts";
import type { post, timeline, validation } from "./answer-schema.ts";
import type { DraftBody } from "./accept/schema.ts";
import { timelineStep } from "./timeline-store.ts";

type PostAnswer = ShapeOf<typeof post>;

const AT = "2026-03-04T10:00:00.000Z";
const BASE_URL = "https://relay.example.com/api";
const TEXT = "Fresh sourdough from 7 this morning.";

export const draftExample = (): z.input<ReturnType<typeof DraftBody>> => ({
  text: TEXT,
  platforms: ["bluesky", "mastodon"],
  mediaUrls: ["https://media.example.com/sourdough.jpg"],
  altTexts: ["A loaf of sourdough on a wooden board"],
  platformOptions: { mastodon: { visibility: "public", language: "en" } },
  externalId: "announcement-20391",
});

const account = {
  id: "did:plc:ewvi7nxzyoun6zhxrhs64oiz",
  username: "corner-bakery.example",
  url: "https://bsky.app/profile/did:plc:ewvi7nxzyoun6zhxrhs64oiz",
};

const pendingLeg = (platform: "bluesky" | "mastodon"): PostAnswer["legs"][number] => ({
  platform,
  status: "pending",
  connectionId: null,
  account: null,
  networkPostId: null,
  url: null,
  publishedAt: null,
  attempts: 0,
  lastAttemptAt: null,
  nextAttemptAt: null,
  error: null,
  retryAvailable: false,
  warnings: [],
  tokensCharged: 0,
  firstComment: null,
  removal: null,
});

function exampleError(code: "canceled" | "connection_needs_reauth", networkCode: string | null) {
  const found = { code, rule: null, values: {}, field: null, mediaIndex: null, networkCode };
  return withDocUrl(inWords(found, { network: "mastodon", locale: "en" }), BASE_URL);
}

export const acceptedExample = (): PostAnswer => ({
  id: exampleId("post"),
  applicationId: exampleId("application"),
  profileId: exampleId("profile"),
  status: "processing",
  text: TEXT,
  platforms: ["bluesky", "mastodon"],
  mediaUrls: ["https://media.example.com/sourdough.jpg"],
  altTexts: ["A loaf of sourdough on a wooden board"],
  platformOptions: { mastodon: { visibility: "public", language: "en" } },
  scheduleAt: null,
  externalId: "announcement-20391",
  metadata: {},
  legs: [pendingLeg("bluesky"), pendingLeg("mastodon")],
  tokens: { reserved: 20, charged: 0, released: 0 },
  requestId: exampleId("request"),
  createdAt: AT,
  updatedAt: AT,
  startedAt: AT,
  completedAt: null,
});

/** Returns a post with one succeeded and one failed leg, which every caller must expect. */
export const partialExample = (): PostAnswer => ({
  ...acceptedExample(),
  status: "partial",
  legs: [
    {
      ...pendingLeg("bluesky"),
      status: "succeeded",
      connectionId: exampleId("connection"),
      account,
      networkPostId: "at://did:plc:ewvi7nxzyoun6zhxrhs64oiz/app.bsky.feed.post/3mgabcdefgh2k",
      url: "https://bsky.app/profile/did:plc:ewvi7nxzyoun6zhxrhs64oiz/post/3mgabcdefgh2k",
      publishedAt: "2026-03-04T10:00:01.500Z",
      attempts: 1,
      lastAttemptAt: "2026-03-04T10:00:00.400Z",
      tokensCharged: 10,
    },
    {
      ...pendingLeg("mastodon"),
      status: "failed",
      connectionId: exampleId("connection", 2),
      attempts: 1,
      lastAttemptAt: "2026-03-04T10:00:00.400Z",
      error: exampleError("connection_needs_reauth", "401"),
    },
  ],
  tokens: { reserved: 0, charged: 10, released: 10 },
  updatedAt: "2026-03-04T10:00:02.000Z",
  completedAt: "2026-03-04T10:00:02.000Z",
});

/** Returns a post with a leg that is being removed. */
export const removingExample = (): PostAnswer => {
  const { legs, ...post } = partialExample();
  const requestedAt = "2026-03-05T08:00:00.000Z";
  const removal = { status: "pending", requestedAt, at: null, error: null } as const;
  return {
    ...post,
    legs: legs.map((leg) => (leg.status === "succeeded" ? { ...leg, removal } : leg)),
    updatedAt: requestedAt,
  };
};

export const scheduledExample = (): PostAnswer => ({
  ...acceptedExample(),
  status: "scheduled",
  scheduleAt: "2026-03-06T07:00:00.000Z",
  tokens: { reserved: 0, charged: 0, released: 0 },
  startedAt: null,
});

export const canceledExample = (): PostAnswer => ({
  ...scheduledExample(),
  status: "canceled",
  legs: scheduledExample().legs.map((leg) => ({
    ...leg,
    status: "skipped",
    error: exampleError("canceled", null),
  })),
  completedAt: AT,
});

export const validationExample = (): ShapeOf<typeof validation> => ({
  valid: true,
  tokensEstimate: 20,
  platforms: {
    bluesky: {
      valid: true,
      errors: [],
      warnings: [],
      usedCharacters: 36,
      maxCharacters: 300,
      quota: null,
      connection: { id: exampleId("connection"), status: "active" },
    },
    mastodon: {
      valid: true,
      errors: [],
      warnings: [],
      usedCharacters: 36,
      maxCharacters: 500,
      quota: null,
      connection: { id: exampleId("connection", 2), status: "active" },
    },
  },
  media: [],
});

export const timelineExample = (): ShapeOf<typeof timeline> => [
  timelineStep(AT, "accepted"),
  timelineStep(AT, "reserved", "10 tokens"),
  {
    ...timelineStep("2026-03-04T10:00:00.400Z", "leg_claimed"),
    platform: "bluesky",
    attempt: 1,
  },
  {
    ...timelineStep(
      "2026-03-04T10:00:00.600Z",
      "network_call",
      "POST pds.example.com/xrpc/com.atproto.repo.putRecord",
    ),
    platform: "bluesky",
    attempt: 1,
    durationMs: 210,
    networkStatus: 200,
  },
  {
    ...timelineStep("2026-03-04T10:00:00.900Z", "leg_settled"),
    platform: "bluesky",
    outcome: "succeeded",
  },
  { ...timelineStep("2026-03-04T10:00:00.900Z", "completed"), outcome: "succeeded" },
  {
    ...timelineStep("2026-03-04T10:00:01.300Z", "webhook_sent", "post.succeeded"),
    attempt: 1,
    durationMs: 84,
    networkStatus: 200,
    webhookId: exampleId("endpoint"),
    deliveryId: exampleId("delivery"),
  },
];
