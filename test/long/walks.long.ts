import { describe, expect, test } from "vitest";
import { EXPIRED, purge, sweepForLong, sweepOnce } from "../background/walks/rounds.ts";

/* How long walks take with very much to do; the figures stand in `docs/dev/testing.md`. */

const LONG = { timeout: 20 * 60_000 };
const write = (line: string) => void process.stdout.write(`${line}\n`);

test.each([1, 2, 4])(
  "10,000 platforms that were active in one minute are all swept by %i processes",
  LONG,
  async (processes) => {
    const swept = await sweepOnce(10_000, processes);
    write(`sweep: 10,000 platforms, ${processes} processes: ${JSON.stringify(swept)}`);
    expect(swept.missed).toBe(0);
  },
);

test("3,000 platforms that are active all the time are swept all the time", LONG, async () => {
  expect(await sweepForLong(3_000, 20)).toEqual(Array.from({ length: 20 }, () => 0));
});

/** Removed or looked up one by one, or a partition each: of these the model takes too long for a million. */
const FEWER: ReadonlySet<string> = new Set([
  "logins",
  "connect-sessions",
  "oauth-states",
  "texts",
  "idempotency-keys",
]);

describe("very many expired rows", () => {
  // Safe: the keys are those of the table.
  const kinds = Object.keys(EXPIRED) as (keyof typeof EXPIRED)[];

  test.each(kinds)("very many expired rows of kind %s are purged", LONG, async (kind) => {
    const count = FEWER.has(kind) ? 100_000 : 1_000_000;
    const startedAt = performance.now();
    const purged = await purge([kind], count);
    const seconds = Math.round((performance.now() - startedAt) / 1_000);
    write(`purge: ${count} ${kind}: ${JSON.stringify(purged)}, modelled in ${seconds} s`);
    expect(purged.left).toBe(0);
  });
});
