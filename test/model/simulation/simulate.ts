import { createLog } from "../../../src/shared/runtime/log.ts";
import { describeFailure, Report } from "./report.ts";
import { SEEDS_OF_ERA, simulate } from "./simulation.ts";
import { THE_PRODUCT } from "./mutant.ts";

/** Failures after which it is not worth going on. */
const FAILURES_MAX = 5;
const PROGRESS_SEEDS = 1_000;

const write = (line: string) => void process.stdout.write(`${line}\n`);

function numberOf(name: "SEED" | "SEEDS"): number | undefined {
  const text = process.env[name];
  if (text === undefined || text === "") return undefined;
  const number = Number(text);
  if (!Number.isSafeInteger(number) || number < 1)
    throw new Error(`${name} must be a whole number above 0, not ${text}`);
  return number;
}

/** One seed, with everything that the processes log. */
async function replay(seed: number): Promise<Report> {
  const report = new Report();
  const log = createLog({ level: "debug", sink: (_level, line) => write(line) });
  const outcome = await simulate(seed, THE_PRODUCT, log);
  report.add(outcome);
  if (outcome.violations.length > 0) write(describeFailure(outcome));
  return report;
}

async function runAll(seeds: number): Promise<Report> {
  const report = new Report();
  for (let seed = 1; seed <= seeds && report.failed.length < FAILURES_MAX; seed += 1) {
    const outcome = await simulate(seed);
    report.add(outcome);
    if (outcome.violations.length > 0) write(describeFailure(outcome));
    if (seed % PROGRESS_SEEDS === 0) write(report.summary());
  }
  return report;
}

const seed = numberOf("SEED");
const report = await (seed === undefined
  ? runAll(numberOf("SEEDS") ?? SEEDS_OF_ERA)
  : replay(seed));
write(report.summary());
process.exitCode = report.failed.length === 0 ? 0 : 1;
