import { expect, test } from "vitest";
import type { PublishedPost } from "../../../sandbox/network.ts";
import type { Ask } from "./load.ts";
import type { Arrival } from "./receivers.ts";
import type { ShownEntry, ShownLeg, ShownPost, Snapshot } from "./snapshot.ts";
import type { Tenant } from "./tenants.ts";
import { violationsOf } from "./verdict.ts";

const TENANT: Tenant = {
  name: "one",
  customer: { platformId: "plt", session: "", applicationId: "app", key: "", profileId: "prf" },
  networks: ["bluesky"],
  endpointPath: "/soak/one",
};
const DUE = "2026-03-04T10:00:00.000Z";
const OUT = "2026-03-04T10:00:01.000Z";

const LEG: ShownLeg = {
  platform: "bluesky",
  status: "succeeded",
  publishedAt: OUT,
  error: null,
  tokensCharged: 10,
};
const POST: ShownPost = {
  id: "pst_1",
  status: "succeeded",
  text: "No. 1 of the soak",
  externalId: "the-soak-no-1",
  scheduleAt: DUE,
  startedAt: DUE,
  legs: [LEG],
};

function entry(type: string, tokens: number, after: readonly [number, number]): ShownEntry {
  const [balanceAfter, reservedAfter] = after;
  const postId = type === "credit" ? null : POST.id;
  return {
    id: `led_${type}`,
    type,
    tokens,
    balanceAfter,
    reservedAfter,
    postId,
    platform: "bluesky",
  };
}

const LEDGER = [
  entry("credit", 100, [100, 0]),
  entry("reserve", 10, [100, 10]),
  entry("settle", -10, [90, 0]),
];
const END = { id: "evt_1", type: "post.succeeded", data: { post: { id: POST.id } } };
const SEEN = {
  network: "bluesky",
  text: POST.text,
  url: "https://bsky.app/1",
  publishedAt: OUT,
  edits: 0,
};
const ASK: Ask = {
  number: 1,
  tenant: TENANT,
  key: "the-soak-no-1",
  isScheduled: true,
  isFaulty: false,
  postIds: new Set([POST.id]),
};

interface Facts {
  readonly post?: Partial<ShownPost>;
  readonly leg?: Partial<ShownLeg>;
  readonly more?: Partial<Snapshot>;
  readonly seen?: readonly Partial<typeof SEEN>[];
  readonly arrivals?: Readonly<Record<string, Arrival>>;
  readonly postIds?: readonly string[];
}

const TAKEN: Arrival = { calls: 1, taken: 1, bodies: new Set(["one"]) };

/** One post on one network after which everything is as it should be, but for what is said. */
function judge({ post, leg, more, seen = [{}], arrivals, postIds }: Facts): string[] {
  const snapshot: Snapshot = {
    tenant: TENANT,
    posts: [{ ...POST, legs: [{ ...LEG, ...leg }], ...post }],
    ledger: LEDGER,
    balance: { tokenBalance: 90, tokenReserved: 0 },
    events: [END],
    ...more,
  };
  // Safe: the fields that the rules look at are all there.
  const visible = seen.map((one) => ({ ...SEEN, ...one })) as unknown as PublishedPost[];
  const ask = postIds === undefined ? ASK : { ...ASK, postIds: new Set(postIds) };
  const arrived = new Map(Object.entries(arrivals ?? { evt_1: TAKEN }));
  return violationsOf([snapshot], { asks: [ask], visible, arrivals: () => arrived });
}

test("a post that went as it should breaks no rule", () => {
  expect(judge({})).toEqual([]);
});

test("a leg of unknown outcome may be visible or not", () => {
  const leg = { status: "failed", error: { code: "outcome_unknown" }, tokensCharged: 0 };
  const facts = {
    leg,
    post: { status: "failed" },
    more: {
      events: [{ ...END, type: "post.failed" }],
      ledger: [...LEDGER.slice(0, 2), entry("release", -10, [100, 0])],
      balance: { tokenBalance: 100, tokenReserved: 0 },
    },
  };
  expect(judge(facts)).toEqual([]);
  expect(judge({ ...facts, seen: [] })).toEqual([]);
});

const FAILED = { status: "failed", error: { code: "rejected" }, tokensCharged: 0 };

test.each<readonly [string, Facts, RegExp]>([
  ["a post that is visible twice", { seen: [{}, {}] }, /visible 2 times/],
  ["a succeeded leg that is not visible", { seen: [] }, /succeeded and is not visible/],
  ["a failed leg that is visible", { leg: FAILED }, /is failed \(rejected\) and is visible/],
  ["a failed leg that was paid for", { leg: FAILED, seen: [] }, /is failed and was paid with 10/],
  ["a leg that says another price", { leg: { tokensCharged: 20 } }, /says 20/],
  [
    "a leg that was charged twice",
    { more: { ledger: [...LEDGER, entry("settle", -10, [80, -10])] } },
    /was paid with 20/,
  ],
  [
    "a post that was published early",
    { seen: [{ publishedAt: "2026-03-04T09:59:59.000Z" }] },
    /before/,
  ],
  ["a post that was changed when it was out", { seen: [{ edits: 1 }] }, /changed after/],
  ["a post without an owner", { seen: [{}, { text: "No. 2 of the soak" }] }, /nobody's/],
  ["a post that never ends", { post: { status: "processing" } }, /is processing at rest/],
  ["an end that nobody was told about", { more: { events: [] } }, /was told as nothing/],
  ["an end that was told twice", { more: { events: [END, { ...END, id: "evt_2" }] } }, /was told/],
  ["an event that was not delivered", { arrivals: {} }, /evt_1 was not delivered/],
  [
    "an event that was delivered in two versions",
    { arrivals: { evt_1: { ...TAKEN, bodies: new Set(["one", "two"]) } } },
    /in 2 versions/,
  ],
  [
    "a delivery of an event that never was",
    { arrivals: { evt_1: TAKEN, evt_9: TAKEN } },
    /evt_9 was delivered and is not listed/,
  ],
  [
    "a wallet that differs from its ledger",
    { more: { balance: { tokenBalance: 91, tokenReserved: 0 } } },
    /sums to 90, not to 91/,
  ],
  [
    "tokens that stay reserved",
    { more: { balance: { tokenBalance: 90, tokenReserved: 10 } } },
    /10 tokens reserved at rest/,
  ],
  [
    "a ledger with a gap",
    { more: { ledger: LEDGER.toSpliced(1, 1) } },
    /led_settle does not add up/,
  ],
  ["two posts for one key", { postIds: ["pst_1", "pst_2"] }, /was answered with pst_1,pst_2/],
  ["a post that was promised and is gone", { postIds: ["pst_2"] }, /answered with a post that/],
])("%s is noticed", (_, facts, message) => {
  expect(judge(facts).join("\n")).toMatch(message);
});
