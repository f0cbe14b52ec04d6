import type { NetworkData } from "../../src/shared/networks/contract/draft.ts";
import type { Done } from "../../src/shared/networks/contract/outcome.ts";
import { newId } from "../../src/shared/runtime/ids.ts";
import type { Draft, Post } from "../../src/shared/publishing/post.ts";
import { type Call, newCall } from "../../src/shared/publishing/call.ts";
import { type Leg, legStatusOf } from "../../src/shared/publishing/leg.ts";

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
    indexed: [],
    startedAt: at,
    completedAt: null,
    ...overrides,
  };
}

/** What a leg has of its own, and of the call that publishes; `later`: the calls that follow it. */
export type GivenLeg = Partial<Omit<Leg, "calls"> & Omit<Call, "kind" | "remote" | "result">> & {
  readonly remote?: NetworkData | null;
  readonly result?: Pick<Done, "externalId" | "url"> | null;
  readonly later?: readonly Call[];
};

/** A leg as it is accepted, except for what is given. */
export function legOf({ later = [], ...given }: GivenLeg = {}): Leg {
  const call = newCall("publish", "pst_test|bluesky|0123456789abcdef", NOW);
  const ofCall = Object.entries(given).filter(([name]) => name in call);
  const ofLeg = Object.entries(given).filter(([name]) => !(name in call));
  return {
    network: "bluesky",
    claimId: null,
    leaseUntil: null,
    notBefore: null,
    round: "pst_test",
    reservation: { state: "open", tokens: 10, operation: "publish_leg", day: "2030-01-31" },
    tokensSettled: 0,
    tokensReleased: 0,
    connectionId: "con_test",
    account: { id: "did:plc:test", username: "test", url: "https://social.example/test" },
    warnings: [],
    ...Object.fromEntries(ofLeg),
    calls: [{ ...call, ...Object.fromEntries(ofCall) }, ...later],
  };
}

/** Returns what `legOf` takes, and the status. */
export function partsOf(leg: Leg) {
  const { calls, ...own } = leg;
  const { kind: _kind, ...publishing } = calls[0];
  return { ...publishing, ...own, status: legStatusOf(leg) };
}
