import { bounded } from "../setup/bounded.ts";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type CallEnd, sentCall, unsentCall } from "../../src/shared/publishing/call.ts";
import { callOf, type Leg, nextLegStep, withCall } from "../../src/shared/publishing/leg.ts";
import {
  asBeforeClaim,
  claimed,
  ended,
  postponed,
  waiting,
} from "../../src/shared/publishing/publish/leg-attempt.ts";
import { problemOf } from "../../src/shared/publishing/problems.ts";
import {
  earlyLookSeconds,
  nextPollSeconds,
  nextRetrySeconds,
} from "../../src/shared/publishing/leg-times.ts";
import { type GivenLeg, inSeconds, legOf, NOW, partsOf } from "./fixtures.ts";

const now = NOW;
const at = NOW.toISOString();
const earlier = inSeconds(-100).toISOString();
const claim = { id: "claim 1", now, leaseSeconds: 120, afterCrash: false };
const published = {
  kind: "done",
  externalId: "at://post",
  url: "https://social.example/post",
} as const;
const marked = (leg: Leg) => withCall(leg, sentCall(callOf(leg), now));
const end = (leg: Leg, how: CallEnd) => ended(leg, callOf(leg), how, now);
const refused = {
  code: "media_rejected",
  networkCode: "42",
  rule: "media.size",
  mediaIndex: 1,
} as const;

describe("a claimed leg", () => {
  test.each<[string, GivenLeg, boolean, GivenLeg]>([
    [
      "that is new begins its first attempt",
      {},
      false,
      { state: "claimed", attempts: 1, crashes: 0, lastAttemptAt: at },
    ],
    [
      "that was put back begins another attempt",
      { attempts: 1, retries: 1, notBefore: earlier, lastAttemptAt: earlier },
      false,
      { state: "claimed", attempts: 2, retries: 1, crashes: 0, lastAttemptAt: at },
    ],
    [
      "that waited for its media goes on with its attempt",
      { state: "waiting", attempts: 1, lastAttemptAt: earlier },
      false,
      { state: "claimed", attempts: 1, lastAttemptAt: earlier },
    ],
    [
      "whose owner died goes on with its attempt and counts the crash",
      { state: "claimed", attempts: 1, crashes: 2, lastAttemptAt: earlier },
      true,
      { state: "claimed", attempts: 1, crashes: 3, lastAttemptAt: earlier },
    ],
    [
      "whose outcome is not known stays sent",
      { state: "sent", sentAt: earlier, attempts: 1, lastAttemptAt: earlier },
      false,
      { state: "sent", sentAt: earlier, attempts: 1, crashes: 0 },
    ],
    [
      "whose owner died after sending stays sent",
      { state: "sent", sentAt: earlier, attempts: 1 },
      true,
      { state: "sent", sentAt: earlier, attempts: 1, crashes: 1 },
    ],
    [
      "that is retried although an earlier call may have published must look first",
      { state: "open", sentAt: earlier, resend: true, attempts: 3 },
      false,
      { state: "sent", sentAt: earlier, resend: true, attempts: 4, lastAttemptAt: at },
    ],
  ])("a claimed leg: %s", (_, leg, afterCrash, after) => {
    const taken = claimed(legOf(leg), { ...claim, afterCrash });
    expect(partsOf(taken)).toMatchObject({
      ...after,
      status: "publishing",
      claimId: "claim 1",
      notBefore: null,
    });
    expect(taken.leaseUntil).toBe(inSeconds(120).toISOString());
    expect(nextLegStep(taken, now)).toEqual({ kind: "later", at: taken.leaseUntil });
  });

  test("a claimed leg keeps the network's data, its reservation and its price", () => {
    const leg = legOf({ remote: { recordKey: "3k" }, tokensSettled: 10, tokensReleased: 20 });
    const { remote, reservation, key, round, tokensSettled, tokensReleased } = partsOf(leg);
    expect(partsOf(claimed(leg, claim))).toMatchObject({
      remote,
      reservation,
      key,
      round,
      tokensSettled,
      tokensReleased,
    });
  });
});

describe("a leg without an open reservation", () => {
  test.each(["none", "settled", "released"] as const)("(%s) is nobody's to work on", (state) => {
    const { reservation } = legOf();
    expect(nextLegStep(legOf({ reservation: { ...reservation, state } }), now)).toEqual({
      kind: "unreserved",
    });
    expect(nextLegStep(legOf(), now)).toEqual({ kind: "claim", afterCrash: false });
  });
});

describe("a leg that is about to be sent", () => {
  test("a leg that is about to be sent has the sent marker, under the same claim", () => {
    const leg = claimed(legOf({ remote: { recordKey: "3k" } }), claim);
    const parts = { ...partsOf(leg), state: "sent", sentAt: at, calledAt: at };
    expect(partsOf(marked(leg))).toEqual(parts);
  });

  test("a leg that is about to be sent keeps the times of the first call of unknown outcome and of this one", () => {
    const doubted = legOf({ sentAt: earlier, calledAt: earlier });
    expect(partsOf(marked(claimed(doubted, claim)))).toMatchObject({
      sentAt: earlier,
      calledAt: at,
    });
  });

  test("a leg whose call was certainly not made is as before, and may be sent without a look-up again", () => {
    const before = claimed(legOf({ resend: true }), claim);
    const after = withCall(before, unsentCall(callOf(marked(before)), callOf(before)));
    expect(partsOf(after)).toMatchObject({ sentAt: null, calledAt: null, resend: true });
  });
});

describe("a postponed leg", () => {
  const owned = claimed(legOf({ remote: { container: "1" } }), claim);

  test("a postponed leg waits without a claim and keeps its attempt", () => {
    const later = postponed(owned, "pause", now, 15);
    expect(partsOf(later)).toMatchObject({
      state: "waiting",
      claimId: null,
      leaseUntil: null,
      notBefore: inSeconds(15).toISOString(),
      remote: { container: "1" },
      attempts: 1,
      retries: 0,
    });
    expect(nextLegStep(later, inSeconds(15))).toEqual({ kind: "claim", afterCrash: false });
  });

  test("a postponed leg with an unknown outcome stays sent", () => {
    const later = postponed(marked(owned), "pause", now, 15);
    expect(partsOf(later)).toMatchObject({ state: "sent", sentAt: at, retries: 0 });
  });

  test("a postponed look-up counts as a retry", () => {
    expect(partsOf(postponed(marked(owned), "look", now, 15))).toMatchObject({
      state: "sent",
      retries: 1,
    });
  });
});

describe("a leg that is put back", () => {
  const owned = claimed(legOf({ retries: 1 }), claim);

  test("a leg that is put back waits for its next attempt as if this one had never begun", () => {
    expect(partsOf(postponed(owned, "attempt", now, 30))).toMatchObject({
      status: "pending",
      state: "open",
      claimId: null,
      leaseUntil: null,
      notBefore: inSeconds(30).toISOString(),
      retries: 2,
      sentAt: null,
      reservation: owned.reservation,
    });
  });

  test("a leg that is put back keeps the earlier call of unknown outcome", () => {
    const doubted = withCall(owned, { ...callOf(owned), sentAt: earlier, calledAt: earlier });
    expect(partsOf(postponed(doubted, "attempt", now, 30))).toMatchObject({
      state: "open",
      sentAt: earlier,
    });
  });

  test("a leg whose turn it is not is as before its claim, with its new account and what was prepared", () => {
    const before = legOf({ attempts: 1, retries: 1, lastAttemptAt: earlier });
    const taken = claimed(before, { ...claim, afterCrash: true });
    const prepared = withCall(taken, { ...callOf(taken), remote: bounded({ container: "1" }) });
    const moved = { ...prepared, connectionId: "con_other" };
    expect(partsOf(asBeforeClaim(before, moved, now, 1))).toEqual({
      ...partsOf(before),
      crashes: 1,
      connectionId: "con_other",
      remote: { container: "1" },
      notBefore: inSeconds(1).toISOString(),
    });
  });
});

describe("a leg that waits", () => {
  const before = legOf();
  const failure = { code: "network_unavailable", networkCode: null } as const;
  const after = (leg: Leg, waitsFor: "attempt" | "look", isPoll?: true) =>
    waiting(
      leg,
      { kind: "wait", waitsFor, failure, isPoll },
      { before, now, retrySeconds: [5, 30], random: 0.5 },
    );
  const owned = (retries: number) => claimed(legOf({ retries }), claim);
  const sent = (retries: number, ago = 0) => {
    const calledAt = inSeconds(-ago).toISOString();
    const leg = marked(owned(retries));
    return withCall(leg, { ...callOf(leg), sentAt: calledAt, calledAt });
  };
  const seconds = (count: number) => inSeconds(count).toISOString();

  test.each<[string, Leg | undefined, GivenLeg | undefined]>([
    [
      "is attempted again by the schedule",
      after(owned(1), "attempt"),
      { state: "open", retries: 2, notBefore: seconds(30) },
    ],
    ["ends when the schedule is used up", after(owned(2), "attempt"), undefined],
    [
      "is looked up last where an earlier call may still show an effect",
      after(withCall(owned(2), { ...callOf(owned(2)), sentAt: earlier, calledAt: at }), "attempt"),
      { state: "sent", retries: 3, notBefore: seconds(32) },
    ],
    [
      "is looked up by the schedule, which runs twice",
      after(sent(3, 100), "look"),
      { state: "sent", retries: 4, notBefore: seconds(30) },
    ],
    [
      "is looked up as soon as all networks show what was called",
      after(sent(4, 40), "look"),
      { state: "sent", retries: 5, notBefore: seconds(23) },
    ],
    ["ends when nothing more will show", after(sent(4, 100), "look"), undefined],
    [
      "is looked up early while its network works on it, which is no retry",
      after(sent(0, 4), "look", true),
      { state: "sent", retries: 0, notBefore: seconds(4) },
    ],
  ])("a leg that waits: %s", (_, leg, expected) => {
    const parts = leg && partsOf(leg);
    if (expected === undefined) expect(parts).toBeUndefined();
    else expect(parts).toMatchObject({ ...expected, claimId: null, leaseUntil: null });
  });
});

describe("a leg that succeeded", () => {
  test("a leg that succeeded is published, charged once and unclaimed", () => {
    const leg = marked(claimed(legOf({ tokensReleased: 10, resend: true }), claim));
    expect(partsOf(end(leg, published))).toMatchObject({
      status: "succeeded",
      state: "done",
      claimId: null,
      leaseUntil: null,
      notBefore: null,
      result: { externalId: "at://post", url: "https://social.example/post" },
      at,
      error: null,
      resend: false,
      reservation: { state: "settled", tokens: 10 },
      tokensSettled: 10,
      tokensReleased: 10,
    });
  });

  test("a leg that succeeded drops the error of an earlier attempt", () => {
    const leg = legOf({ error: problemOf(refused) });
    expect(end(leg, published).calls[0].error).toBeNull();
  });
});

describe("a leg that failed", () => {
  const sent = marked(claimed(legOf({ tokensSettled: 10 }), claim));

  test("a leg that failed has its error, is not charged and is unclaimed", () => {
    const leg = partsOf(end(sent, { kind: "failed", failure: refused }));
    expect(leg).toMatchObject({
      status: "failed",
      state: "failed",
      claimId: null,
      leaseUntil: null,
      notBefore: null,
      sentAt: null,
      reservation: { state: "released", tokens: 10 },
      tokensSettled: 10,
      tokensReleased: 10,
      error: { code: "media_rejected", networkCode: "42", rule: "media.size", mediaIndex: 1 },
    });
  });

  test("a leg that failed with an unknown outcome keeps its sent marker", () => {
    const failure = { code: "outcome_unknown", networkCode: null } as const;
    const leg = partsOf(end(sent, { kind: "unknown", failure }));
    expect(leg).toMatchObject({ sentAt: at, error: { code: "outcome_unknown", rule: null } });
    expect(leg.reservation.state).toBe("released");
  });
});

const SCHEDULE = [5, 30, 120, 600, 1_800];

describe("the delay before a retry", () => {
  test.each<[string, { retries: number; random: number; asked?: number }, number | null]>([
    ["is the schedule's at best luck", { retries: 0, random: 0 }, 4],
    ["is the schedule's on average", { retries: 1, random: 0.5 }, 30],
    ["stays below a fifth more", { retries: 2, random: 0.999_999 }, 144],
    ["ends with the schedule", { retries: 5, random: 0.5 }, null],
    ["ends with it whatever the network asks for", { retries: 5, random: 0.5, asked: 60 }, null],
    ["is what the network asks for, if longer", { retries: 0, random: 0.5, asked: 90 }, 90],
    ["is the schedule's when that is longer", { retries: 3, random: 0.5, asked: 90 }, 600],
    [
      "is at most an hour for the network's sake",
      { retries: 0, random: 0.5, asked: 86_400 },
      3_600,
    ],
    ["is none when none is needed", { retries: 4, random: 0.5, asked: 0 }, 0],
  ])("the delay before a retry: %s", (_, { retries, random, asked }, seconds) => {
    const delay = nextRetrySeconds(SCHEDULE, retries, random, asked);
    if (seconds === null) expect(delay).toBeNull();
    else expect(delay).toBeCloseTo(seconds, 3);
  });

  test.each([
    ["a second in the beginning", 0, 10, 1],
    ["a second after two that took a little longer", 2_300, 10, 1],
    ["half of the time that the attempt has taken", 7_000, 10, 4],
    ["what the network's interval is at most", 60_000, 10, 10],
    ["a short interval as it is", 60_000, 3, 3],
  ])("the wait for a file that the network works on is %s", (_, attemptMs, secondsMax, seconds) => {
    expect(nextPollSeconds(secondsMax, attemptMs)).toBe(seconds);
  });

  test.each([
    ["a second in the beginning", 200, 1],
    ["as long as the call is old", 4_200, 4],
    ["left to the schedule when the work takes long", 10_000, null],
    ["left to the schedule when the clock went back", -1, null],
  ])("the wait for a network that works on a call is %s", (_, sinceMs, seconds) => {
    expect(earlyLookSeconds({ calledAt: at }, new Date(Date.parse(at) + sinceMs))).toBe(seconds);
  });

  const random = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });

  test("the delay before a retry is within a fifth of the schedule, or the one that the network asks for", () => {
    fc.assert(
      fc.property(
        fc.nat({ max: SCHEDULE.length - 1 }),
        random,
        fc.option(fc.integer({ min: 1, max: 100_000 }), { nil: undefined }),
        (retries, luck, retryAfter) => {
          const base = SCHEDULE[retries] ?? Number.NaN;
          const asked = Math.min(retryAfter ?? 0, 3_600);
          const seconds = nextRetrySeconds(SCHEDULE, retries, luck, retryAfter) ?? Number.NaN;
          expect(seconds).toBeGreaterThanOrEqual(Math.max(asked, base * 0.8));
          expect(seconds).toBeLessThanOrEqual(Math.max(asked, base * 1.2));
        },
      ),
    );
  });

  test("retries end after as many as the schedule has", () => {
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: 1, max: 9_999 }), { maxLength: 6 }),
        random,
        (schedule, luck) => {
          const delays = Array.from({ length: 8 }, (_, retries) =>
            nextRetrySeconds(schedule, retries, luck),
          );
          expect(delays.filter((delay) => delay !== null)).toHaveLength(schedule.length);
          expect(delays.slice(schedule.length).every((delay) => delay === null)).toBe(true);
        },
      ),
    );
  });
});
