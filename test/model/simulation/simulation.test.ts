import { expect, test, vi } from "vitest";
import { PLATFORMS_EVERY } from "../weather.ts";
import { describeFailure, Report } from "./report.ts";
import { simulate } from "./simulation.ts";

/** The long check runs twenty thousand, a hundred large ones among them. */
const SEEDS = 30;
/** Seeds after which it ends, whatever has not happened. A change of the code moves what happens in which seed. */
const SEEDS_MAX = 180;
/** In the midst of 3,000 platforms that are active all the time. */
const LARGE_SEED = PLATFORMS_EVERY;
/** How often what is rare has to happen: throttling takes a large run with very many posts, a redrive a long outage. */
const RARE: Readonly<Record<string, number>> = { throttled: 0, redrives: 1 };

/** Returns what has not happened often enough. The runs are worth something only if everything has. */
const missing = ({ counts }: Report) =>
  Object.entries(counts).filter(([what, count]) => count < (RARE[what] ?? SEEDS / 20 + 1));

/** Everything that customers, operators, workers and the timer do, with everything going wrong that can go wrong. */
test(
  `no rule of money, publishing or telling breaks in ${SEEDS} seeded runs, in which everything happens`,
  { timeout: 600_000 },
  async () => {
    const report = new Report();
    report.add(await simulate(LARGE_SEED));
    for (let seed = 1; seed <= SEEDS_MAX && report.failed.length < 3; seed += 1) {
      if (seed > SEEDS && missing(report).length === 0) break;
      report.add(await simulate(seed));
    }
    process.stdout.write(`${report.summary()}\n`);
    expect(report.failed.map(describeFailure)).toEqual([]);
    expect(missing(report)).toEqual([]);
  },
);

test("a seed gives the same run whatever was run before it", { timeout: 120_000 }, async () => {
  const runs = [];
  for (const before of [undefined, 659]) {
    // Ids never go back in time within a process; this is what stands for another one.
    vi.resetModules();
    const { simulate: run } = await import("./simulation.ts");
    if (before !== undefined) await run(before);
    const lines: string[] = [];
    const line = (message: string) => void lines.push(message);
    const log = { debug: line, info: line, warn: line, error: line, with: () => log };
    const { counts } = await run(660, undefined, log);
    runs.push({ lines, counts });
  }
  expect(runs[0]?.lines.length).toBeGreaterThan(3);
  expect(runs[1]).toEqual(runs[0]);
});
