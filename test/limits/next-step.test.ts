import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  exchangeAfter,
  admissionStep,
  unseenMax,
  type WindowView,
} from "../../src/shared/limits/sliding-window.ts";

/** A process that knows the other's counts, early in a quiet minute. */
const QUIET: WindowView = {
  limit: 300,
  count: 0,
  unseen: 0,
  instances: 2,
  isFresh: true,
  failing: false,
  waited: false,
};

const GRANT = { kind: "grant", exchange: false };
const GRANT_BESIDE = { kind: "grant", exchange: true };
const WAIT = { kind: "wait" };
const DENY = { kind: "deny" };

describe("below the strict zone no request waits, and counts are exchanged beside it", () => {
  const cases: readonly (readonly [string, Partial<WindowView>, object])[] = [
    ["a request of many", {}, GRANT],
    ["the tenth since the last exchange", { unseen: 9 }, GRANT_BESIDE],
    ["some time after the last exchange", { isFresh: false }, GRANT_BESIDE],
    ["the first of all", { isFresh: false }, GRANT_BESIDE],
    ["the last below 70 %", { count: 209 }, GRANT],
    ["with more than eight instances, the fifth", { instances: 9, unseen: 4 }, WAIT],
    ["with more than eight instances, the last below 50 %", { instances: 9, count: 149 }, GRANT],
    ["so many at once that the others' view would be wrong", { unseen: 20 }, WAIT],
  ];
  test.each(cases)("below the strict zone no request waits: %s", (_name, known, expected) => {
    expect(admissionStep({ ...QUIET, ...known })).toEqual(expected);
  });
});

describe("in the strict zone", () => {
  const cases: readonly (readonly [string, Partial<WindowView>, object])[] = [
    ["every request waits for an exchange", { count: 210 }, WAIT],
    ["beyond 50 % with more than eight instances", { instances: 9, count: 150 }, WAIT],
    ["it is granted after the exchange", { count: 210, waited: true }, GRANT],
    ["the others' part is left to them", { count: 290, unseen: 5, waited: true }, WAIT],
    ["the last place is granted", { count: 299, waited: true }, GRANT],
    ["the last place is granted once", { count: 299, unseen: 1, waited: true }, WAIT],
    ["no place is left", { count: 300, waited: true }, DENY],
    ["a part of a place is none", { count: 299.5, waited: true }, DENY],
    ["a refusal needs no exchange when the counts are fresh", { count: 300 }, DENY],
    ["a refusal needs one when they are not", { count: 300, isFresh: false }, WAIT],
  ];
  test.each(cases)("in the strict zone: %s", (_name, known, expected) => {
    expect(admissionStep({ ...QUIET, ...known })).toEqual(expected);
  });
});

describe("while storage fails nobody waits and the same limit holds", () => {
  const cases: readonly (readonly [string, Partial<WindowView>, object])[] = [
    ["below it", { count: 100 }, GRANT],
    ["in the strict zone", { count: 250, unseen: 250 }, GRANT],
    ["at the limit", { count: 300, unseen: 300 }, DENY],
    ["at the limit, long after the last try", { count: 300, isFresh: false }, DENY],
    ["storage is tried again after a moment", { count: 100, isFresh: false }, GRANT_BESIDE],
  ];
  test.each(cases)("while storage fails the same limit holds: %s", (_name, known, expected) => {
    expect(admissionStep({ ...QUIET, failing: true, ...known })).toEqual(expected);
  });
});

describe("properties", () => {
  const limits = fc.integer({ min: 300, max: 1_000_000 });
  const views = fc.record({
    limit: limits,
    count: fc.nat(2_000),
    unseen: fc.nat(50),
    instances: fc.integer({ min: 1, max: 40 }),
    isFresh: fc.boolean(),
    failing: fc.boolean(),
    waited: fc.boolean(),
  });

  test("what up to eight instances can hide from one of them is a tenth of the limit at most", () => {
    fc.assert(
      fc.property(limits, fc.integer({ min: 1, max: 8 }), (limit, instances) => {
        expect(unseenMax(limit, instances) * (instances - 1)).toBeLessThanOrEqual(limit / 10);
      }),
    );
  });

  test("counts are exchanged before anybody has to wait for it", () => {
    fc.assert(
      fc.property(limits, fc.integer({ min: 1, max: 40 }), (limit, instances) => {
        expect(exchangeAfter(limit, instances)).toBeGreaterThanOrEqual(1);
        expect(exchangeAfter(limit, instances)).toBeLessThanOrEqual(unseenMax(limit, instances));
      }),
    );
  });

  test("nothing is granted beyond the limit, and nothing hides more than it may while storage works", () => {
    fc.assert(
      fc.property(views, (view) => {
        if (admissionStep(view).kind !== "grant") return;
        expect(view.count + 1).toBeLessThanOrEqual(view.limit + 1e-6);
        if (!view.failing)
          expect(view.unseen + 1).toBeLessThanOrEqual(unseenMax(view.limit, view.instances));
      }),
    );
  });

  test("a caller that waited and is alone gets an answer", () => {
    fc.assert(
      fc.property(views, (view) => {
        const step = admissionStep({ ...view, waited: true, unseen: 0 });
        expect(step.kind).not.toBe("wait");
      }),
    );
  });
});
