import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type Leg, nextLegStep } from "../../../src/shared/publishing/leg.ts";
import {
  claimed,
  failed,
  markedSent,
  postponed,
  toRetry,
  succeeded,
} from "../../../src/shared/publishing/publish/leg-attempt.ts";
import { problemOf } from "../../../src/shared/publishing/problems.ts";
import {
  earlyLookSeconds,
  nextPollSeconds,
  nextReconcileSeconds,
  nextRetrySeconds,
} from "../../../src/shared/publishing/leg-times.ts";
import { inSeconds, legOf, NOW } from "./fixtures.ts";

const now = NOW;
const at = NOW.toISOString();
const earlier = inSeconds(-100).toISOString();
const claim = { id: "claim 1", now, leaseSeconds: 120, afterCrash: false };
const published = {
  kind: "published",
  networkPostId: "at://post",
  url: "https://social.example/post",
} as const;
const refused = {
  code: "media_rejected",
  networkCode: "42",
  rule: "media.size",
  mediaIndex: 1,
} as const;

describe("a claimed leg", () => {
  test.each<[string, Partial<Leg>, boolean, Partial<Leg>]>([
    [
      "that is new begins its first attempt",
      {},
      false,
      { phase: "claimed", attempts: 1, crashes: 0, lastAttemptAt: at },
    ],
    [
      "that was put back begins another attempt",
      { attempts: 1, retries: 1, notBefore: earlier, lastAttemptAt: earlier },
      false,
      { phase: "claimed", attempts: 2, retries: 1, crashes: 0, lastAttemptAt: at },
    ],
    [
      "that waited for its media goes on with its attempt",
      { status: "publishing", phase: "waiting", attempts: 1, lastAttemptAt: earlier },
      false,
      { phase: "claimed", attempts: 1, lastAttemptAt: earlier },
    ],
    [
      "whose owner died goes on with its attempt and counts the crash",
      { status: "publishing", phase: "claimed", attempts: 1, crashes: 2, lastAttemptAt: earlier },
      true,
      { phase: "claimed", attempts: 1, crashes: 3, lastAttemptAt: earlier },
    ],
    [
      "whose outcome is not known stays sent",
      { status: "publishing", phase: "sent", sentAt: earlier, attempts: 1, lastAttemptAt: earlier },
      false,
      { phase: "sent", sentAt: earlier, attempts: 1, crashes: 0 },
    ],
    [
      "whose owner died after sending stays sent",
      { status: "publishing", phase: "sent", sentAt: earlier, attempts: 1 },
      true,
      { phase: "sent", sentAt: earlier, attempts: 1, crashes: 1 },
    ],
    [
      "that is retried although an earlier call may have published must look first",
      { phase: "idle", sentAt: earlier, resend: true, attempts: 3 },
      false,
      { phase: "sent", sentAt: earlier, resend: true, attempts: 4, lastAttemptAt: at },
    ],
  ])("%s", (_, leg, afterCrash, after) => {
    const taken = claimed(legOf(leg), { ...claim, afterCrash });
    expect(taken).toMatchObject({
      ...after,
      status: "publishing",
      claimId: "claim 1",
      notBefore: null,
    });
    expect(taken.leaseUntil).toBe(inSeconds(120).toISOString());
    expect(nextLegStep(taken, now)).toEqual({ kind: "later", at: taken.leaseUntil });
  });

  test("a claimed leg keeps the network's data, its reservation and its price", () => {
    const leg = legOf({ remote: { recordKey: "3k" }, tokensCharged: 10, tokensReleased: 20 });
    const { remote, reservation, key, round, tokensCharged, tokensReleased } = leg;
    expect(claimed(leg, claim)).toMatchObject({
      remote,
      reservation,
      key,
      round,
      tokensCharged,
      tokensReleased,
    });
  });
});

describe("a leg without an open reservation", () => {
  test.each(["none", "captured", "released"] as const)("(%s) is nobody's to work on", (state) => {
    const { reservation } = legOf();
    expect(nextLegStep(legOf({ reservation: { ...reservation, state } }), now)).toEqual({
      kind: "unreserved",
    });
    expect(nextLegStep(legOf(), now)).toEqual({ kind: "claim", afterCrash: false });
  });
});

describe("a leg that is about to be sent", () => {
  test("a leg that is about to be sent has the sent marker and the prepared data, under the same claim", () => {
    const leg = claimed(legOf({ remote: { recordKey: "3k" } }), claim);
    const marked = markedSent(leg, { recordKey: "3k", blob: "b" }, null, now);
    expect(marked).toEqual({
      ...leg,
      phase: "sent",
      sentAt: at,
      calledAt: at,
      remote: { recordKey: "3k", blob: "b" },
    });
  });

  test("a leg that is about to be sent keeps the times of the first call of unknown outcome and of this one", () => {
    expect(markedSent(claimed(legOf(), claim), {}, earlier, now)).toMatchObject({
      sentAt: earlier,
      calledAt: at,
    });
  });
});

describe("a postponed leg", () => {
  const owned = claimed(legOf({ remote: { container: "1" } }), claim);

  test("a postponed leg waits without a claim and keeps its attempt", () => {
    const waiting = postponed(owned, { container: "2" }, now, 15);
    expect(waiting).toMatchObject({
      status: "publishing",
      phase: "waiting",
      claimId: null,
      leaseUntil: null,
      notBefore: inSeconds(15).toISOString(),
      remote: { container: "2" },
      attempts: 1,
      retries: 0,
    });
    expect(nextLegStep(waiting, inSeconds(15))).toEqual({ kind: "claim", afterCrash: false });
  });

  test("a postponed leg keeps the network's data when there is none that is new", () => {
    expect(postponed(owned, null, now, 15).remote).toEqual({ container: "1" });
  });

  test("a postponed leg with an unknown outcome stays sent", () => {
    const waiting = postponed(markedSent(owned, { container: "1" }, null, now), null, now, 15);
    expect(waiting).toMatchObject({ phase: "sent", sentAt: at });
  });
});

describe("a leg that is put back", () => {
  const owned = markedSent(claimed(legOf({ retries: 1 }), claim), { container: "1" }, null, now);

  test("a leg that is put back waits for its next attempt as if this one had never begun", () => {
    expect(toRetry(owned, now, 30, null)).toMatchObject({
      status: "pending",
      phase: "idle",
      claimId: null,
      leaseUntil: null,
      notBefore: inSeconds(30).toISOString(),
      retries: 2,
      sentAt: null,
      reservation: owned.reservation,
    });
  });

  test("a leg that is put back keeps the earlier call of unknown outcome", () => {
    expect(toRetry(owned, now, 30, earlier).sentAt).toBe(earlier);
  });
});

describe("a leg that succeeded", () => {
  test("a leg that succeeded is published, charged once and unclaimed", () => {
    const leg = markedSent(
      claimed(legOf({ tokensReleased: 10, resend: true }), claim),
      {},
      null,
      now,
    );
    expect(succeeded(leg, published, now)).toMatchObject({
      status: "succeeded",
      phase: "idle",
      claimId: null,
      leaseUntil: null,
      notBefore: null,
      networkPostId: "at://post",
      url: "https://social.example/post",
      publishedAt: at,
      error: null,
      resend: false,
      reservation: { state: "captured", tokens: 10 },
      tokensCharged: 10,
      tokensReleased: 10,
    });
  });

  test("a leg that succeeded drops the error of an earlier attempt", () => {
    const leg = legOf({ error: problemOf(refused) });
    expect(succeeded(leg, published, now).error).toBeNull();
  });
});

describe("a leg that failed", () => {
  const sent = markedSent(claimed(legOf({ tokensCharged: 10 }), claim), {}, null, now);

  test("a leg that failed has its error, is not charged and is unclaimed", () => {
    const leg = failed(sent, refused);
    expect(leg).toMatchObject({
      status: "failed",
      phase: "idle",
      claimId: null,
      leaseUntil: null,
      notBefore: null,
      sentAt: null,
      reservation: { state: "released", tokens: 10 },
      tokensCharged: 10,
      tokensReleased: 10,
      error: { code: "media_rejected", networkCode: "42", rule: "media.size", mediaIndex: 1 },
    });
    expect(leg.error?.message).not.toBe("");
    expect(leg.error?.remediation).not.toBe("");
  });

  test("a leg that failed with an unknown outcome keeps its sent marker", () => {
    const leg = failed(sent, { code: "outcome_unknown", networkCode: null });
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
  ])("%s", (_, { retries, random, asked }, seconds) => {
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
    expect(earlyLookSeconds(legOf({ calledAt: at }), new Date(Date.parse(at) + sinceMs))).toBe(
      seconds,
    );
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

  test("reconciling an unknown outcome runs through the schedule once more", () => {
    const delays = Array.from({ length: 11 }, (_, looks) =>
      nextReconcileSeconds(SCHEDULE, looks, 0.5),
    );
    expect(delays).toEqual([...SCHEDULE, ...SCHEDULE, null]);
    expect(nextReconcileSeconds(SCHEDULE, 9, 0.5, 2_000)).toBe(2_000);
  });
});
