import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  afterFailure,
  blockedSeconds,
  codeBlockedSeconds,
  type FailureKind,
  failureGroup,
  isForgotten,
  NO_FAILURES,
  type LoginHistory,
} from "../../src/shared/limits/login-history-store.ts";

const START = Date.parse("2026-03-04T10:00:00.000Z");
const MINUTE = 60_000;
const OWN = { group: "mine", attemptsMax: 5 };

interface Given {
  readonly from?: LoginHistory;
  readonly group?: string;
  readonly kind?: FailureKind;
}

/** Fails at each of the times, given in minutes. */
function failing(
  minutes: readonly number[],
  { from = NO_FAILURES, group = OWN.group, kind = "password" }: Given = {},
): LoginHistory {
  return minutes.reduce(
    (history, minute) =>
      afterFailure(history, { kind, group, at: START + minute * MINUTE, resets: 0 }),
    from,
  );
}

const blocked = (history: LoginHistory, minute: number, group = OWN.group) =>
  blockedSeconds(history, { ...OWN, group }, START + minute * MINUTE);

describe("tries from one group", () => {
  test.each([
    ["no failure blocks nothing", [], 0, 0],
    ["four failures block nothing", [0, 0, 0, 0], 0, 0],
    [
      "the fifth within 15 minutes blocks until the first is 15 minutes old",
      [0, 3, 6, 9, 12],
      12,
      180,
    ],
    ["five that take longer than 15 minutes block nothing", [0, 4, 8, 12, 16], 16, 0],
    ["the block ends", [0, 0, 0, 0, 0], 15, 0],
    ["and one more failure is one of five again", [0, 0, 0, 0, 0, 15], 15, 0],
  ])("tries from one group: %s", (_name, minutes, now, seconds) => {
    expect(blocked(failing(minutes), now)).toBe(seconds);
  });

  test("tries from one group are not blocked by another group's failures, up to a hundred in an hour from all together", () => {
    let history = NO_FAILURES;
    for (let index = 0; index < 99; index += 1)
      history = failing([index / 10], { from: history, group: `g${index % 20}` });
    expect(blocked(history, 10, "g1")).toBeGreaterThan(0);
    expect(blocked(history, 10)).toBe(0);
    history = failing([10], { from: history, group: "g0" });
    expect(blocked(history, 10)).toBe(50 * 60);
    expect(blocked(history, 60)).toBe(0);
  });

  test("wait whole seconds, never too few", () => {
    const history = failing([0, 0, 0, 0, 0]);
    expect(blockedSeconds(history, OWN, START + 500)).toBe(900);
    expect(blockedSeconds(history, OWN, START + 15 * MINUTE - 1)).toBe(1);
    expect(blockedSeconds(history, OWN, START + 15 * MINUTE)).toBe(0);
  });
});

describe("codes of the second factor", () => {
  test("wait after ten wrong ones within an hour, wherever they came from, until the next reset", () => {
    const strangers = failing(Array<number>(9).fill(0), { kind: "code", group: "other" });
    expect(codeBlockedSeconds(strangers, 0, START)).toBe(0);
    const ten = failing([1], { from: strangers, kind: "own_code", group: "device" });
    expect(codeBlockedSeconds(ten, 0, START + MINUTE)).toBe(59 * 60);
    expect(codeBlockedSeconds(ten, 0, START + 60 * MINUTE)).toBe(0);
    expect(codeBlockedSeconds(ten, 1, START + MINUTE)).toBe(0);
  });

  test("codes of the second factor are not counted by wrong passwords", () => {
    expect(codeBlockedSeconds(failing(Array<number>(30).fill(0)), 0, START)).toBe(0);
  });

  test("codes of the second factor from a known device don't block strangers, whose own count does", () => {
    const history = failing(Array<number>(9).fill(0), { kind: "own_code" });
    expect(blocked(history, 0)).toBe(0);
  });
});

test("a history is forgotten an hour after its last failure", () => {
  expect(isForgotten(failing([0, 1]), START + 61 * MINUTE - 1)).toBe(false);
  expect(isForgotten(failing([0, 1]), START + 61 * MINUTE)).toBe(true);
});

test("a history does not grow: what no longer counts is left out", () => {
  expect(failing([0, 1, 61])).toHaveLength(1);
});

test("a group says nothing of the address, and is another one for another email", () => {
  const [mine, other] = ["a@example.com", "b@example.com"].map((email) =>
    failureGroup(email, "192.0.2.0/24"),
  );
  expect(mine).toMatch(/^[0-9a-f]{12}$/);
  expect(mine).not.toBe(other);
  expect(failureGroup(" A@Example.com", "192.0.2.0/24")).toBe(mine);
});

test("a forgotten history decides like none", () => {
  const gaps = fc.array(fc.nat(20 * MINUTE), { maxLength: 30 });
  fc.assert(
    fc.property(gaps, fc.nat(90 * MINUTE), (waits, pause) => {
      let [history, now] = [NO_FAILURES, START];
      for (const wait of waits) {
        now += wait;
        const failure = { kind: "code", group: OWN.group, at: now, resets: 0 } as const;
        if (blockedSeconds(history, OWN, now) === 0) history = afterFailure(history, failure);
      }
      now += pause;
      fc.pre(isForgotten(history, now));
      expect(blockedSeconds(history, OWN, now)).toBe(0);
      expect(codeBlockedSeconds(history, 0, now)).toBe(0);
    }),
  );
});
