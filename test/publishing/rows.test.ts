import type { LegFailure } from "../../src/shared/networks/contract/outcome.ts";
import { bounded } from "../setup/bounded.ts";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { LEG_ERRORS, type LegErrorCode } from "../../src/shared/networks/contract/errors.ts";
import { NETWORK_NAMES } from "../../src/shared/networks/names.ts";
import type { Call } from "../../src/shared/publishing/call.ts";
import { type Leg, legStatusOf } from "../../src/shared/publishing/leg.ts";
import { problemOf } from "../../src/shared/publishing/problems.ts";
import type { Post } from "../../src/shared/publishing/post.ts";
import {
  postProgress,
  toLeg,
  toLegRow,
  toPost,
  toPostRow,
} from "../../src/shared/publishing/post-row.ts";
import { NewerRow } from "../../src/shared/runtime/storage/damaged-row.ts";
import {
  fromChunks,
  PROPERTY_LENGTH_MAX,
  replacedChunks,
  toChunks,
  type Row,
} from "../../src/shared/runtime/storage/row.ts";
import { draftOf, legOf, postOf } from "./fixtures.ts";

const rowOf = (chunks: Record<string, string>): Row => ({ rowKey: "row", ...chunks });
const roundTrip = (text: string) => fromChunks("text", rowOf(toChunks("text", text)));
const isHalfPair = (chunk: string) => !chunk.isWellFormed();

describe("long text in one row", () => {
  test.each<[string, string, number]>([
    ["no text at all", "", 1],
    ["short text", "Hello", 1],
    ["text that just fits a property", "x".repeat(PROPERTY_LENGTH_MAX), 2],
    ["one character more", "x".repeat(PROPERTY_LENGTH_MAX + 1), 2],
    ["text of three properties", "x".repeat(PROPERTY_LENGTH_MAX * 3), 4],
    ["an emoji across the border", `${"x".repeat(PROPERTY_LENGTH_MAX - 1)}👋`, 2],
    ["an emoji after the border", `${"x".repeat(PROPERTY_LENGTH_MAX)}👋`, 2],
    ["emoji alone", "👋".repeat(PROPERTY_LENGTH_MAX), 3],
    ["emoji across every border", `x${"👋".repeat(PROPERTY_LENGTH_MAX)}`, 3],
  ])("%s is read back whole, with no property too long and no pair cut", (_, text, count) => {
    const chunks = Object.values(toChunks("text", text));
    expect(chunks).toHaveLength(count);
    expect(Math.max(...chunks.map((chunk) => chunk.length))).toBeLessThanOrEqual(
      PROPERTY_LENGTH_MAX,
    );
    expect(chunks.some(isHalfPair)).toBe(false);
    expect(roundTrip(text)).toBe(text);
  });

  test.each([
    ["a longer one", "x".repeat(PROPERTY_LENGTH_MAX * 2), "short"],
    ["a shorter one", "short", "x".repeat(PROPERTY_LENGTH_MAX * 2)],
    ["one beside a property of a like name", "y".repeat(PROPERTY_LENGTH_MAX + 1), ""],
  ])("merged over %s leaves nothing of it", (_, before, after) => {
    const row = { ...rowOf(toChunks("text", before)), texts0: "another", textual: "another" };
    const merged = { ...row, ...replacedChunks("text", after, row) };
    expect(fromChunks("text", merged)).toBe(after);
    expect(merged).toMatchObject({ texts0: "another", textual: "another" });
  });

  test.each([1, 2, 3])(
    "a text of %i properties that is merged over a longer one is read alone",
    (properties) => {
      const longer = toChunks("text", "x".repeat(PROPERTY_LENGTH_MAX * 5 + 1));
      for (const length of [-2, -1, 0, 1].map((more) => PROPERTY_LENGTH_MAX * properties + more))
        for (const text of ["y".repeat(length), `y${"👋".repeat((length - (length % 2)) / 2)}`])
          expect(fromChunks("text", { ...rowOf(longer), ...toChunks("text", text) })).toBe(text);
    },
  );

  test("a long text is read back whole, with any characters at the borders of its properties", () => {
    const near = fc.integer({ min: -4, max: 4 });
    const tail = fc.string({ unit: "binary", maxLength: 12 });
    fc.assert(
      fc.property(
        near,
        fc.integer({ min: 1, max: 3 }),
        tail,
        tail,
        (shift, borders, first, second) => {
          const filling = "x".repeat(PROPERTY_LENGTH_MAX * borders + shift - first.length);
          const text = `${filling}${first}${second}`;
          expect(roundTrip(text)).toBe(text);
          if (text.isWellFormed())
            expect(Object.values(toChunks("text", text)).some(isHalfPair)).toBe(false);
        },
      ),
      { numRuns: 200 },
    );
  });

  test("a text that no row could hold is refused when it is written", () => {
    expect(() => toChunks("text", "x".repeat(PROPERTY_LENGTH_MAX * 20 + 1))).toThrow(
      "invariant broken",
    );
    const longest = "x".repeat(PROPERTY_LENGTH_MAX * 20);
    expect(roundTrip(longest)).toBe(longest);
  });

  test("a long text is read by its own name alone", () => {
    const row = { rowKey: "row", ...toChunks("a", "one"), ...toChunks("b", "two") };
    expect(fromChunks("a", row)).toBe("one");
    expect(fromChunks("b", row)).toBe("two");
    expect(fromChunks("c", row)).toBe("");
  });
});

const time = fc
  .integer({ min: Date.UTC(2026), max: Date.UTC(2036) })
  .map((ms) => new Date(ms).toISOString());
const timeOrNull = fc.option(time, { nil: null });
const text = fc.string({ minLength: 1, maxLength: 20 });
const textOrNull = fc.option(text, { nil: null });
const count = fc.nat({ max: 1_000 });
const json = fc
  .dictionary(text, fc.jsonValue({ maxDepth: 2 }), { maxKeys: 4 })
  // As JSON has it: no negative zero.
  .map((value) => JSON.parse(JSON.stringify(value)) as Record<string, unknown>);

const call: fc.Arbitrary<Call> = fc.record({
  kind: fc.constantFrom("publish", "comment", "remove"),
  key: text,
  state: fc.constantFrom("open", "claimed", "waiting", "sent", "done", "failed", "unknown"),
  requestedAt: time,
  attempts: count,
  retries: count,
  crashes: count,
  lastAttemptAt: timeOrNull,
  calledAt: timeOrNull,
  sentAt: timeOrNull,
  resend: fc.boolean(),
  target: textOrNull,
  remote: fc.option(json.map(bounded), { nil: null }),
  refusal: fc.option(
    fc.record({
      kind: fc.constantFrom("rejected", "try_later", "prepare_again"),
      failure: fc
        .record({ code: fc.constant("rate_limited" as const), networkCode: textOrNull })
        .map(bounded<LegFailure>),
      at: time,
      isRepeat: fc.boolean(),
      remote: fc.option(json.map(bounded), { nil: null }),
    }),
    { nil: null },
  ),
  result: fc.option(fc.record({ externalId: textOrNull, url: textOrNull }).map(bounded), {
    nil: null,
  }),
  at: timeOrNull,
  error: fc.option(
    fc
      .record({
        code: fc.constantFrom(...(Object.keys(LEG_ERRORS) as LegErrorCode[])),
        networkCode: textOrNull,
      })
      .map((failure) => problemOf(failure)),
    { nil: null },
  ),
});

const leg: fc.Arbitrary<Leg> = fc
  .record({
    reservation: fc.record({
      state: fc.constantFrom("none", "open", "settled", "released"),
      tokens: count,
      operation: fc.constantFrom("publish_leg", "posts.retry_leg"),
      day: time.map((at) => at.slice(0, 10)),
    }),
    publishing: call,
    later: fc.array(call, { maxLength: 3 }),
  })
  .map(({ reservation, publishing, later }) => ({
    ...legOf({ reservation }),
    calls: [publishing, ...later],
  }));

describe("a leg's row", () => {
  test("a leg's row gives back the leg unchanged", () => {
    fc.assert(
      fc.property(leg, (given) => {
        expect(toLeg(toLegRow("key", given))).toEqual(given);
      }),
    );
  });

  test("a leg's row gives back a network's data of any length", () => {
    const remote = { text: "👋".repeat(40_000) };
    expect(toLeg(toLegRow("key", legOf({ remote }))).calls[0].remote).toEqual(remote);
  });

  test("a leg's row with a call of a later build is shown to people, and is nobody's to work on", () => {
    // Safe: a later build knows it.
    const row = toLegRow("key", legOf({ state: "later" as Call["state"] }));
    expect(legStatusOf(toLeg(row, "people"))).toBe("later");
    expect(() => toLeg(row)).toThrow(NewerRow);
  });
});

describe("a post's row", () => {
  const draft = fc.record({
    text: fc.string({ unit: "binary", maxLength: 200 }),
    networks: fc.uniqueArray(fc.constantFrom(...NETWORK_NAMES), { minLength: 1 }),
    mediaUrls: fc.array(fc.webUrl(), { maxLength: 3 }),
    altTexts: fc.array(fc.option(fc.string(), { nil: null }), { maxLength: 3 }),
    scheduleAt: timeOrNull,
    externalId: textOrNull,
    metadata: fc.dictionary(text, fc.string()),
    platformOptions: fc.record({ bluesky: json }, { requiredKeys: [] }),
  });
  const post: fc.Arbitrary<Post> = fc
    .record({
      status: fc.constantFrom(
        "scheduled",
        "processing",
        "succeeded",
        "partial",
        "failed",
        "canceled",
      ),
      revision: fc.string(),
      draft,
      requestId: text,
      actor: fc.record({ kind: fc.constantFrom("api_key", "session", "system"), id: text }),
      createdAt: time,
      updatedAt: time,
      startedAt: timeOrNull,
      completedAt: timeOrNull,
    })
    .map((fields) => postOf(fields));

  test("a post's row gives back the post unchanged", () => {
    fc.assert(
      fc.property(post, (given) => {
        expect(toPost(given.platformId, toPostRow("key", given))).toEqual(given);
      }),
    );
  });

  test("a post's progress is merged into its row without touching the rest", () => {
    fc.assert(
      fc.property(post, post, (before, after) => {
        const row = { ...toPostRow("key", before), ...postProgress(after) };
        const { status, updatedAt, startedAt, completedAt } = after;
        const wanted = { ...before, status, updatedAt, startedAt, completedAt };
        expect(toPost(before.platformId, row)).toEqual(wanted);
      }),
    );
  });

  test("a post's row holds the longest text that a request can have", () => {
    const longest = draftOf({ text: "👋".repeat(31_603), metadata: { note: "x".repeat(150_000) } });
    const given = postOf({ draft: longest });
    expect(toPost(given.platformId, toPostRow("key", given)).draft).toEqual(longest);
  });
});
