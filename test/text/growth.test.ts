import { describe, expect, test } from "vitest";
import { IS_EXACT, tolerated } from "../setup/bounds.ts";
import { GROWTH_CASES, WORST, type GrowthCase } from "./growth-cases.ts";

/** Half of it shows the same where bounds are tenfold. */
const LENGTH = IS_EXACT ? 65_536 : 32_768;
/** For that length of the worst text. */
const MS_MAX = 50;
const MS_LET_PASS = tolerated(MS_MAX);
/** Code that compares so many characters with each other takes several times as long on any machine. */
const MS_TO_TELL = 10;
const GROWTH_MAX = 3;
/** CPU time is counted in steps of some milliseconds: shares of less than this would be guesses. */
const CPU_MS_MIN = 40;
const ROUNDS_MAX = 20;
const TRIES = 3;

async function cpuMsOf({ look }: GrowthCase, text: string, rounds: number): Promise<number> {
  const before = process.threadCpuUsage();
  for (let round = 0; round < rounds; round += 1) await look(text);
  const { user, system } = process.threadCpuUsage(before);
  return (user + system) / 1000;
}

/** By the clock, which is never less than the CPU time: enough to see that nothing grows here. */
async function isQuick({ look }: GrowthCase, text: string): Promise<boolean> {
  for (let round = 0; round < 3; round += 1) {
    const startedAt = performance.now();
    await look(text);
    const ms = performance.now() - startedAt;
    if (ms < MS_TO_TELL) return true;
    if (ms > MS_LET_PASS) return false;
  }
  return false;
}

/** How many times as much the doubled text takes; measured again while it seems too much, for caches and collectors. */
async function growthsOf(
  one: GrowthCase,
  make: (length: number) => string,
  msOnce: number,
): Promise<readonly number[]> {
  const rounds = Math.min(ROUNDS_MAX, Math.ceil(CPU_MS_MIN / msOnce));
  const growths: number[] = [];
  while (growths.length < TRIES && (growths.at(-1) ?? GROWTH_MAX) >= GROWTH_MAX) {
    const half = await cpuMsOf(one, make(LENGTH / 2), rounds);
    const doubled = await cpuMsOf(one, make(LENGTH), rounds);
    if (doubled / rounds < MS_TO_TELL) return [1];
    growths.push(doubled / half);
  }
  return growths;
}

const attacksOn = ({
  worst = [],
}: GrowthCase): readonly (readonly [string, (length: number) => string])[] => [
  ...Object.entries(WORST),
  ...worst.map((make, index) => [`its own worst, ${index + 1}`, make] as const),
];

describe("text from outside is looked at in linear time", { retry: 1, timeout: 180_000 }, () => {
  test.each(GROWTH_CASES)("$name", async (one) => {
    const harmless = "Plain words, https://a.example/, @alice and a #tag. ".repeat(LENGTH / 52);
    const control = (await cpuMsOf(one, harmless, 3)) / 3;
    for (const [name, make] of attacksOn(one)) {
      // A quarter first: what grows without measure must not hold the whole run.
      const quarter = await cpuMsOf(one, make(LENGTH / 4), 1);
      expect(quarter, `${name}, a quarter of it`).toBeLessThan(MS_LET_PASS / 4 + control);
      const whole = make(LENGTH);
      if (await isQuick(one, whole)) continue;
      const once = await cpuMsOf(one, whole, 1);
      expect(once, name).toBeLessThan(MS_LET_PASS + control);
      const growths = await growthsOf(one, make, Math.max(once, 1));
      expect(Math.min(...growths), name).toBeLessThan(GROWTH_MAX);
    }
  });
});
