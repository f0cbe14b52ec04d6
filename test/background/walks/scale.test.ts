import { expect, test } from "vitest";
import { EXPIRED, purge, sweepForLong } from "./rounds.ts";

/* The long check has more of everything; `docs/dev/testing.md` says how long it takes. */

test("the sweep does not fall behind when 3,000 platforms are active in every minute", async () => {
  expect(await sweepForLong(3_000, 2)).toEqual([0, 0]);
}, 120_000);

test("the purge removes expired rows of every kind, and none keeps another waiting", async () => {
  // Safe: the keys are those of the table.
  const kinds = Object.keys(EXPIRED) as (keyof typeof EXPIRED)[];
  const purged = await purge(kinds, 2_000);
  expect(purged.left).toBe(0);
  expect(purged.minutes).toBeLessThan(10);
}, 120_000);
