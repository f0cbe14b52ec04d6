import * as fc from "fast-check";
import { expect, test } from "vitest";
import {
  afterFailure,
  blockedSeconds,
  isForgotten,
  NO_FAILURES,
  type LoginHistory,
} from "../../../src/shared/limits/login-history-store.ts";

const START = Date.parse("2026-03-04T10:00:00.000Z");
const MINUTE = 60_000;
const ATTEMPTS = 5;

/** Fails at each of the times, given in minutes. */
function failing(minutes: readonly number[], from: LoginHistory = NO_FAILURES): LoginHistory {
  return minutes.reduce(
    (history, minute) => afterFailure(history, ATTEMPTS, START + minute * MINUTE),
    from,
  );
}

test.each([
  ["no failure blocks nothing", [], 0, 0],
  ["four failures block nothing", [0, 0, 0, 0], 0, 0],
  ["the fifth within 15 minutes blocks for a minute", [0, 3, 6, 9, 12], 12, 60],
  ["five that take longer than 15 minutes block nothing", [0, 4, 8, 12, 16], 16, 0],
  ["the block ends after a minute", [0, 0, 0, 0, 0], 1, 0],
  ["the next failure blocks for two", [0, 0, 0, 0, 0, 1], 1, 120],
  ["the third time for four", [0, 0, 0, 0, 0, 1, 3], 3, 240],
  ["the fourth time for eight", [0, 0, 0, 0, 0, 1, 3, 7], 7, 480],
  ["the fifth time for fifteen", [0, 0, 0, 0, 0, 1, 3, 7, 15], 15, 900],
  ["and never for longer", [0, 0, 0, 0, 0, 1, 3, 7, 15, 30, 45], 45, 900],
  ["a failure 14 minutes after a block ended blocks again", [0, 0, 0, 0, 0, 15], 15, 120],
  ["15 quiet minutes after a block it starts over", [0, 0, 0, 0, 0, 16], 16, 0],
  ["and takes five failures again", [0, 0, 0, 0, 0, 16, 17, 18, 19], 19, 0],
])("%s", (_name, minutes, now, seconds) => {
  expect(blockedSeconds(failing(minutes), START + now * MINUTE)).toBe(seconds);
});

test("the wait is told in whole seconds, never too few", () => {
  const history = failing([0, 0, 0, 0, 0]);
  expect(blockedSeconds(history, START + 500)).toBe(60);
  expect(blockedSeconds(history, START + 59_999)).toBe(1);
  expect(blockedSeconds(history, START + 60_000)).toBe(0);
});

test("a history is forgotten 15 minutes after its last failure and the block that it caused", () => {
  const blocked = failing([0, 0, 0, 0, 0]);
  expect(isForgotten(blocked, START + 16 * MINUTE - 1)).toBe(false);
  expect(isForgotten(blocked, START + 16 * MINUTE)).toBe(true);
  expect(isForgotten(failing([0]), START + 15 * MINUTE - 1)).toBe(false);
  expect(isForgotten(failing([0]), START + 15 * MINUTE)).toBe(true);
});

test("whoever tries as often as they are let gets fewer than 100 tries in eight hours", () => {
  let history = NO_FAILURES;
  let tries = 0;
  for (let now = START; now < START + 8 * 60 * MINUTE; now += 1_000) {
    if (blockedSeconds(history, now) > 0) continue;
    history = afterFailure(history, ATTEMPTS, now);
    tries += 1;
  }
  expect(tries).toBeGreaterThan(ATTEMPTS);
  expect(tries).toBeLessThan(100);
});

test("a forgotten history decides like none", () => {
  const gaps = fc.array(fc.nat(20 * MINUTE), { maxLength: 30 });
  fc.assert(
    fc.property(gaps, fc.nat(60 * MINUTE), (waits, pause) => {
      let [history, now] = [NO_FAILURES, START];
      for (const wait of waits) {
        now += wait;
        if (blockedSeconds(history, now) === 0) history = afterFailure(history, ATTEMPTS, now);
      }
      now += pause;
      fc.pre(isForgotten(history, now));
      expect(blockedSeconds(history, now)).toBe(0);
      const [with_, without] = [history, NO_FAILURES].map((from) =>
        blockedSeconds(afterFailure(from, ATTEMPTS, now), now),
      );
      expect(with_).toBe(without);
    }),
  );
});
