import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  hasRoom,
  secondsUntilNextMinute,
  secondsUntilRoom,
  weightedCount,
  WINDOW_MS,
} from "../../src/shared/limits/sliding-window.ts";

/** The start of a minute, and moments in it. */
const MINUTE = 29_543_640 * WINDOW_MS;
const at = (seconds: number) => MINUTE + seconds * 1000;

test.each([
  ["nothing was counted", { current: 0, previous: 0 }, 30, 0],
  ["the minute before counts whole at the start", { current: 0, previous: 300 }, 0, 300],
  ["half of it in the middle", { current: 10, previous: 300 }, 30, 160],
  ["hardly any of it at the end", { current: 10, previous: 300 }, 59, 15],
  ["this minute counts whole at any time", { current: 300, previous: 0 }, 59, 300],
])("%s", (_name, usage, seconds, expected) => {
  expect(weightedCount(usage, at(seconds))).toBeCloseTo(expected, 6);
});

test.each([
  ["the last place", 299, 300, true],
  ["no place", 300, 300, false],
  ["a part of a place", 299.5, 300, false],
  ["a hair off by rounding", 299.000_000_000_1, 300, true],
])("%s", (_name, count, limit, expected) => {
  expect(hasRoom(count, limit)).toBe(expected);
});

test.each([
  // 300 in this minute: at its end they are the previous one's, and the first place is free 0.2 s later.
  ["used up at the start of the minute", { current: 300, previous: 0 }, 0, 61],
  ["used up in the middle", { current: 300, previous: 0 }, 30, 31],
  ["used up by the minute before", { current: 0, previous: 300 }, 0, 1],
  ["used up by both", { current: 150, previous: 300 }, 0, 31],
  ["far beyond a limit that was lowered", { current: 600, previous: 0 }, 0, 91],
  ["room already", { current: 0, previous: 0 }, 0, 1],
])("Retry-After: %s", (_name, usage, seconds, expected) => {
  expect(secondsUntilRoom(usage, 300, at(seconds))).toBe(expected);
});

test("a limit of one frees its place two minutes after the minute began", () => {
  expect(secondsUntilRoom({ current: 1, previous: 0 }, 1, at(15))).toBe(105);
});

test.each([
  [0, 60],
  [0.001, 60],
  [59, 1],
  [59.9, 1],
])("after %s s the next minute begins in %s s", (seconds, expected) => {
  expect(secondsUntilNextMinute(at(seconds))).toBe(expected);
});

describe("properties", () => {
  const usage = fc.record({ current: fc.nat(2_000), previous: fc.nat(2_000) });
  const moment = fc.nat(WINDOW_MS - 1).map((ms) => MINUTE + ms);
  const limits = fc.integer({ min: 1, max: 1_000 });

  /** The same counts as they are seen later, when nothing was added. */
  const seen = (counted: { current: number; previous: number }, from: number, later: number) => {
    const minutes = Math.floor(later / WINDOW_MS) - Math.floor(from / WINDOW_MS);
    if (minutes === 0) return counted;
    return { current: 0, previous: minutes === 1 ? counted.current : 0 };
  };

  test("Retry-After is true: after it one fits", () => {
    fc.assert(
      fc.property(usage, moment, limits, (counted, now, limit) => {
        const later = now + secondsUntilRoom(counted, limit, now) * 1000;
        expect(hasRoom(weightedCount(seen(counted, now, later), later), limit)).toBe(true);
      }),
    );
  });

  test("Retry-After is no longer than it has to be: a second earlier none fits", () => {
    fc.assert(
      fc.property(usage, moment, limits, (counted, now, limit) => {
        const seconds = secondsUntilRoom(counted, limit, now);
        fc.pre(seconds > 1);
        const earlier = now + (seconds - 1) * 1000 - 1;
        expect(hasRoom(weightedCount(seen(counted, now, earlier), earlier), limit)).toBe(false);
      }),
    );
  });

  test("while nothing is added the count never rises", () => {
    fc.assert(
      fc.property(usage, moment, fc.nat(3 * WINDOW_MS), (counted, now, ms) => {
        const later = now + ms;
        expect(weightedCount(seen(counted, now, later), later)).toBeLessThanOrEqual(
          weightedCount(counted, now) + 1e-9,
        );
      }),
    );
  });
});
