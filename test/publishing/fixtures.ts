import { newId } from "../../src/shared/runtime/ids.ts";
import type { Draft, Post } from "../../src/shared/publishing/post.ts";
import type { Leg } from "../../src/shared/publishing/leg.ts";

export const NOW = new Date("2030-01-31T12:00:00.000Z");

export const inSeconds = (seconds: number) => new Date(NOW.getTime() + seconds * 1000);

export function draftOf(overrides: Partial<Draft> = {}): Draft {
  return {
    text: "Hello",
    networks: ["bluesky", "mastodon"],
    mediaUrls: [],
    altTexts: [],
    platformOptions: {},
    scheduleAt: null,
    externalId: null,
    metadata: {},
    ...overrides,
  };
}

export function postOf(overrides: Partial<Post> = {}): Post {
  const at = NOW.toISOString();
  return {
    id: newId("post", NOW),
    platformId: "plt_test",
    applicationId: "app_test",
    profileId: "prf_test",
    status: "processing",
    revision: "",
    draft: draftOf(),
    requestId: "req_test",
    traceId: null,
    actor: { kind: "api_key", id: "key_test" },
    createdAt: at,
    updatedAt: at,
    eventSequence: 0,
    startedAt: at,
    completedAt: null,
    ...overrides,
  };
}

/** A leg as it is accepted. */
export function legOf(overrides: Partial<Leg> = {}): Leg {
  return {
    network: "bluesky",
    status: "pending",
    phase: "idle",
    key: "pst_test|bluesky|0123456789abcdef",
    claimId: null,
    leaseUntil: null,
    notBefore: null,
    round: "pst_test",
    attempts: 0,
    retries: 0,
    crashes: 0,
    sentAt: null,
    calledAt: null,
    resend: false,
    remote: null,
    reservation: { state: "open", tokens: 10, operation: "publish_leg", day: "2030-01-31" },
    tokensCharged: 0,
    tokensReleased: 0,
    connectionId: "con_test",
    account: { id: "did:plc:test", username: "test", url: "https://social.example/test" },
    networkPostId: null,
    url: null,
    publishedAt: null,
    lastAttemptAt: null,
    error: null,
    warnings: [],
    calls: [],
    ...overrides,
  };
}
