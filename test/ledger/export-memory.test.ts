import { spawn } from "node:child_process";
import { once } from "node:events";
import { expect, test } from "vitest";
import { outputOf } from "../setup/child-output.ts";
import { forFile } from "../setup/for-file.ts";
import { serveLedger, timeOf } from "./ledger-service.ts";

const ENTRIES = 50_000;
const WARM_ENTRIES = 10_000;
const MEGABYTE = 1_000_000;
const REQUESTS_MAX = 90;
/** Two of them of one platform. */
const PLATFORMS = ["plt_0", "plt_0", "plt_1", "plt_2"];
const FILES = 2;
const WARM_UPS_REQUESTS_MAX = 200;
const service = forFile(() => serveLedger(ENTRIES + 1_000));

/**
 * The heap may grow by little, so that what the process grows by is what the export needs, and not what the engine has
 * not collected yet. The young generation has its full size from the beginning, as after some work.
 */
const HEAP = [
  "--max-old-space-size=48",
  "--min-semi-space-size=16",
  "--max-semi-space-size=16",
  "--expose-gc",
];

test(
  "two platforms export 50,000 entries each in at most 60 MB, and what more is asked for is refused",
  { timeout: 120_000 },
  async () => {
    const times = [timeOf(1), timeOf(WARM_ENTRIES), timeOf(ENTRIES + 1)];
    const args = [service.connectionString, ...times, ...PLATFORMS];
    const child = spawn(process.execPath, [...HEAP, "test/ledger/exporting.ts", ...args], {
      stdio: ["ignore", "pipe", "pipe"],
    });
    const output = outputOf(child);
    await once(child, "close");
    const said = JSON.parse(/\{.*\}/.exec(output())?.[0] ?? "") as {
      readonly files: readonly number[];
      readonly grown: number;
    };
    const [first, again, second, third] = said.files;
    for (const bytes of [first, second]) expect(bytes).toBeGreaterThan(13 * MEGABYTE);
    // Seconds to wait: none waits itself.
    expect([again, third]).toEqual([10, 10]);
    expect(said.grown).toBeLessThan(60 * MEGABYTE);
    expect(service.requests()).toBeLessThanOrEqual(FILES * REQUESTS_MAX + WARM_UPS_REQUESTS_MAX);
  },
);
