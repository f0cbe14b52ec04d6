import * as fc from "fast-check";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { minuteIndex, weightedCount, WINDOW_MS } from "../../src/shared/limits/sliding-window.ts";
import { SharedWindow } from "../../src/shared/limits/shared-window.ts";
import { IS_LONG } from "../setup/long-check.ts";
import { seeded, SlowRows, VirtualTime } from "./virtual-time.ts";

const START = 29_543_640 * WINDOW_MS;

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
});
afterEach(() => {
  vi.useRealTimers();
});

interface Traffic {
  readonly limit: number;
  readonly instances: number;
  /** How many times the limit is asked for. */
  readonly demand: number;
  /** 0: all at once. */
  readonly spreadMs: number;
  /** 0: requests are spread evenly over the instances; the higher, the more the first ones get. */
  readonly skew: number;
  /** Longest way to storage or back. */
  readonly wayMs: number;
  /** Requests of each instance in the minute before, by which they get to know each other. */
  readonly before: number;
  readonly seed: number;
}

interface Outcome {
  readonly granted: number;
  /** The highest weighted count there was at any grant, over all instances. */
  readonly peak: number;
  readonly asked: number;
  readonly storageCalls: number;
}

/** Instances that share nothing but the rows, under one subject's traffic that begins early in a minute. */
async function simulate(traffic: Traffic): Promise<Outcome> {
  const random = seeded(traffic.seed);
  const time = new VirtualTime(START - 30_000);
  const rows = new SlowRows(() => time.pass(random() * traffic.wayMs));
  const onFailure = (error: unknown) => {
    throw error;
  };
  const windows = Array.from(
    { length: traffic.instances },
    () => new SharedWindow({ subject: "key", rows, now: time.now, onFailure }),
  );
  const grants = new Map<number, number>();
  let [granted, peak] = [0, 0];
  const count = () => {
    const minute = minuteIndex(time.now());
    grants.set(minute, (grants.get(minute) ?? 0) + 1);
    const usage = { current: grants.get(minute) ?? 0, previous: grants.get(minute - 1) ?? 0 };
    peak = Math.max(peak, weightedCount(usage, time.now()));
  };
  for (const window of windows)
    for (let index = 0; index < traffic.before; index += 1)
      time.schedule(
        time.now() + random() * 20_000,
        () => void window.admit(traffic.limit).then(count),
      );
  await time.runOut();
  const callsBefore = rows.calls;

  const asked = Math.ceil(traffic.limit * traffic.demand);
  let answered = 0;
  const ask = async (window: SharedWindow | undefined) => {
    const decision = await window?.admit(traffic.limit);
    answered += 1;
    if (decision?.allowed !== true) return;
    granted += 1;
    count();
  };
  for (let index = 0; index < asked; index += 1) {
    const chosen = windows[Math.floor(random() ** (1 + traffic.skew) * windows.length)];
    time.schedule(START + 1_000 + random() * traffic.spreadMs, () => void ask(chosen));
  }
  await time.runOut();
  expect(answered).toBe(asked);
  return { granted, peak, asked, storageCalls: rows.calls - callsBefore };
}

const traffics = (instances: number): fc.Arbitrary<Traffic> =>
  fc.record({
    limit: fc.constantFrom(300, 300, 120, 600),
    instances: fc.constant(instances),
    demand: fc.constantFrom(0.5, 0.99, 1.1, 2, 3),
    spreadMs: fc.constantFrom(0, 100, 2_000, 20_000, 40_000),
    skew: fc.constantFrom(0, 1, 4),
    wayMs: fc.constantFrom(1, 10, 50),
    before: fc.constantFrom(0, 3),
    seed: fc.nat(),
  });

describe.each([1, 2, 4, 8])("%i instances with one limit", (instances) => {
  test(
    "grant all of it, and together never more than a tenth beyond it",
    { timeout: 180_000 },
    async () => {
      await fc.assert(
        fc.asyncProperty(traffics(instances), async (traffic) => {
          const { granted, peak, asked } = await simulate(traffic);
          // What the minute before still counts may be missing.
          const room = traffic.limit - traffic.before * instances;
          expect(granted).toBeGreaterThanOrEqual(Math.min(asked, room));
          expect(peak).toBeLessThanOrEqual(instances === 1 ? traffic.limit : traffic.limit * 1.1);
        }),
        { numRuns: IS_LONG ? 200 : 20 },
      );
    },
  );
});

test("more instances than the tolerance is documented for still come close", async () => {
  const traffic = {
    limit: 300,
    demand: 3,
    spreadMs: 10_000,
    skew: 0,
    wayMs: 20,
    before: 0,
    seed: 1,
  };
  const { granted } = await simulate({ ...traffic, instances: 16 });
  expect(granted).toBeGreaterThanOrEqual(300);
  expect(granted).toBeLessThanOrEqual(345);
});

test("well below the limit storage is asked three times for ten requests at most, of one instance", async () => {
  const traffic = {
    limit: 300,
    demand: 0.6,
    spreadMs: 10_000,
    skew: 0,
    wayMs: 5,
    before: 3,
    seed: 1,
  };
  const { granted, storageCalls } = await simulate({ ...traffic, instances: 1 });
  expect(granted).toBe(180);
  expect(storageCalls).toBeLessThanOrEqual(60);
});
