import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { NETWORK_NAMES } from "../../src/shared/networks/names.ts";
import { fingerprint, isSameRequest } from "../../src/shared/publishing/accept/idempotency-key.ts";
import type { Draft } from "../../src/shared/publishing/post.ts";
import { DraftBody } from "../../src/shared/publishing/accept/schema.ts";
import { draftOf } from "./fixtures.ts";

const scope = { applicationId: "app_one", profileId: "prf_one" };
const print = (draft: Draft) => fingerprint(scope, draft);

/** The same value with the names of every object in the other order. */
function turned(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(turned);
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).map(([name, item]) => [name, turned(item)] as const);
  return Object.fromEntries(entries.toReversed());
}

const full = draftOf({
  text: "Hello",
  networks: ["bluesky", "mastodon"],
  mediaUrls: ["https://media.example/1.png", "https://media.example/2.png"],
  altTexts: ["one", null],
  platformOptions: {
    bluesky: { langs: ["en"], linkCard: { url: "https://a.example", title: "A" } },
    mastodon: { text: "Hello, fediverse", visibility: "unlisted" },
  },
  scheduleAt: "2030-06-01T09:00:00.000Z",
  externalId: "order-7",
  metadata: { campaign: "spring", team: "b" },
});

describe("a request's fingerprint", () => {
  test("a fingerprint is its version and a SHA-256 in hex, and the same every time", () => {
    expect(print(full)).toMatch(/^1\.[0-9a-f]{64}$/);
    expect(print(structuredClone(full))).toBe(print(full));
  });

  // When this fails, the schema has a new default: keys of stored posts would not fit their own requests any more.
  // Then leave the default out of what is hashed, or make a new version; what is stored never changes.
  test.each<[string, object]>([
    [
      "17eadd55fbb76b3c9c98cc78ca11d40db59cde53d061b34aa6ab5fa8a2d0ea37",
      { text: "Hi", platforms: ["bluesky"] },
    ],
    [
      "8f76d48eff95ddbe4d6f736f765bcc2f35ebb10b3a1b8438ace95002cf63bf81",
      {
        text: "Hi",
        platforms: ["bluesky", "mastodon"],
        mediaUrls: ["https://media.example/1.png"],
        altTexts: ["one"],
        scheduleAt: "2030-06-01T09:00:00Z",
        platformOptions: { bluesky: { langs: ["en"] }, mastodon: { visibility: "unlisted" } },
        externalId: "order-7",
        metadata: { campaign: "spring" },
      },
    ],
  ])("a build's fingerprint of a request is the same in every later build", (hash, body) => {
    const draft = DraftBody().parse(body);
    const stored = `1.${hash}`;
    expect(isSameRequest(stored, scope, draft)).toBe(true);
    expect(isSameRequest(stored, scope, { ...draft, text: "Hello" })).toBe(false);
    expect(isSameRequest(stored, { ...scope, profileId: "prf_two" }, draft)).toBe(false);
    expect(print(draft)).toBe(stored);
  });

  test("a later build's fingerprint can't be compared, and never makes a second post", () => {
    expect(isSameRequest(`2.${"0".repeat(64)}`, scope, full)).toBe(true);
  });

  const json = fc.dictionary(fc.stringMatching(/^[a-z]{1,6}$/), fc.jsonValue({ maxDepth: 3 }), {
    maxKeys: 6,
  });

  test("a fingerprint does not depend on the order of names", () => {
    expect(print(turned(full) as Draft)).toBe(print(full));
    fc.assert(
      fc.property(json, fc.dictionary(fc.string(), fc.string()), (options, metadata) => {
        const draft = draftOf({ platformOptions: { bluesky: options }, metadata });
        expect(print(turned(draft) as Draft)).toBe(print(draft));
      }),
    );
  });

  test("a fingerprint does not distinguish a null option from an absent one", () => {
    const named = draftOf({ platformOptions: { bluesky: { langs: ["en"], linkCard: null } } });
    const absent = draftOf({ platformOptions: { bluesky: { langs: ["en"] } } });
    expect(print(named)).toBe(print(absent));
  });

  test.each<[string, object, object]>([
    [
      "defaults written out",
      { text: "Hi", platforms: ["bluesky"] },
      {
        text: "Hi",
        platforms: ["bluesky"],
        mediaUrls: [],
        altTexts: [],
        scheduleAt: null,
        platformOptions: {},
        externalId: null,
        metadata: {},
      },
    ],
    [
      "another way to write the same instant",
      { text: "Hi", platforms: ["bluesky"], scheduleAt: "2030-06-01T09:00:00Z" },
      { text: "Hi", platforms: ["bluesky"], scheduleAt: "2030-06-01T11:00:00+02:00" },
    ],
    [
      "an external id of nothing",
      { text: "Hi", platforms: ["bluesky"], externalId: "" },
      { text: "Hi", platforms: ["bluesky"] },
    ],
  ])("the fingerprint is the same for %s", (_, left, right) => {
    expect(print(DraftBody().parse(left))).toBe(print(DraftBody().parse(right)));
  });

  test.each<[string, Partial<Draft>]>([
    ["the text", { text: "Hello!" }],
    ["a space in the text", { text: "Hello " }],
    ["the networks", { networks: ["bluesky"] }],
    ["the order of the networks", { networks: ["mastodon", "bluesky"] }],
    ["a media URL", { mediaUrls: ["https://media.example/1.png", "https://media.example/3.png"] }],
    ["the order of the media", { mediaUrls: full.mediaUrls.toReversed() }],
    ["an alt text", { altTexts: ["one", "two"] }],
    ["which file an alt text belongs to", { altTexts: [null, "one"] }],
    ["the time", { scheduleAt: "2030-06-01T09:00:00.001Z" }],
    ["that there is a time", { scheduleAt: null }],
    [
      "an option",
      {
        platformOptions: {
          ...full.platformOptions,
          mastodon: { text: "Hello, fediverse", visibility: "public" },
        },
      },
    ],
    [
      "a nested option",
      {
        platformOptions: {
          ...full.platformOptions,
          bluesky: { langs: ["en"], linkCard: { url: "https://a.example", title: "B" } },
        },
      },
    ],
    [
      "the order within an option's list",
      { platformOptions: { bluesky: { langs: ["en", "de"] } } },
    ],
    ["that there are options", { platformOptions: {} }],
    ["the external id", { externalId: "order-8" }],
    ["a metadata value", { metadata: { campaign: "summer", team: "b" } }],
    ["a metadata name", { metadata: { campaigns: "spring", team: "b" } }],
  ])("changes with %s", (_, change) => {
    expect(print({ ...full, ...change })).not.toBe(print(full));
  });

  test.each<[string, Partial<typeof scope>]>([
    ["the application", { applicationId: "app_two" }],
    ["the profile", { profileId: "prf_two" }],
  ])("changes with %s, so that a key never shows another one's post", (_, change) => {
    expect(fingerprint({ ...scope, ...change }, full)).not.toBe(print(full));
  });

  test("fingerprints differ for any two different drafts", () => {
    const draft = fc.record({
      text: fc.string({ maxLength: 5 }),
      networks: fc.uniqueArray(fc.constantFrom(...NETWORK_NAMES), { minLength: 1, maxLength: 3 }),
      mediaUrls: fc.array(fc.constantFrom("https://a.example/1", "https://a.example/2"), {
        maxLength: 2,
      }),
      metadata: fc.dictionary(fc.constantFrom("a", "b", "text"), fc.string({ maxLength: 2 })),
    });
    fc.assert(
      fc.property(draft, draft, (left, right) => {
        const isSame = JSON.stringify(sorted(left)) === JSON.stringify(sorted(right));
        expect(print(draftOf(left)) === print(draftOf(right))).toBe(isSame);
      }),
      { numRuns: 300 },
    );
  });
});

function sorted(draft: Pick<Draft, "text" | "networks" | "mediaUrls" | "metadata">) {
  const { text, networks, mediaUrls } = draft;
  const metadata = Object.entries(draft.metadata).sort(([left], [right]) =>
    left < right ? -1 : 1,
  );
  return { text, networks, mediaUrls, metadata };
}
