import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { nextCheck } from "../../src/shared/publishing/leg-times.ts";
import { type GivenLeg, inSeconds, legOf, NOW } from "./fixtures.ts";

const at = (seconds: number) => inSeconds(seconds).toISOString();
const secondsUntil = (time: string) => (Date.parse(time) - NOW.getTime()) / 1000;

describe("the next check of open work", () => {
  test.each<[string, readonly GivenLeg[], number, number]>([
    ["comes after the set time", [{}], 0, 60],
    ["comes later each time", [{}], 1, 120],
    ["comes later still", [{}], 3, 480],
    ["comes every quarter of an hour at last", [{}], 4, 900],
    ["comes every quarter of an hour after ever so many", [{}], 1_000_000, 900],
    ["gives a lease that ends sooner ten seconds more", [{ leaseUntil: at(20) }], 0, 30],
    ["gives a wait that is over sooner ten seconds more", [{ notBefore: at(5) }], 2, 15],
    ["does not wait for a lease that ends later", [{ leaseUntil: at(600) }], 0, 60],
    ["goes by the first of several", [{ leaseUntil: at(40) }, { notBefore: at(10) }, {}], 0, 20],
    ["takes no notice of legs that have ended", [{ state: "failed", notBefore: at(5) }, {}], 0, 60],
    ["takes no notice of what is over", [{ leaseUntil: at(-30) }], 0, 60],
  ])("the next check of open work: %s", (_, legs, checks, seconds) => {
    expect(
      nextCheck(
        legs.map((leg) => legOf(leg)),
        checks,
        60,
        NOW,
      ),
    ).toBe(at(seconds));
  });

  test("the next check of open work is never now and never more than a quarter of an hour away", () => {
    const time = fc.option(fc.integer({ min: -10_000, max: 10_000 }), { nil: null });
    const leg = fc.record({ leaseUntil: time, notBefore: time });
    fc.assert(
      fc.property(
        fc.array(leg, { maxLength: 5 }),
        fc.nat({ max: 100 }),
        fc.integer({ min: 1, max: 3_600 }),
        (times, checks, checkSeconds) => {
          const toTime = (seconds: number | null) => (seconds === null ? null : at(seconds));
          const legs = times.map(({ leaseUntil, notBefore }) =>
            legOf({ leaseUntil: toTime(leaseUntil), notBefore: toTime(notBefore) }),
          );
          const seconds = secondsUntil(nextCheck(legs, checks, checkSeconds, NOW));
          expect(seconds).toBeGreaterThanOrEqual(1);
          expect(seconds).toBeLessThanOrEqual(900);
        },
      ),
    );
  });
});
