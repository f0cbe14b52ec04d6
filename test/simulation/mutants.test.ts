import { afterAll, describe, expect, test } from "vitest";
import { IS_LONG } from "../setup/long-check.ts";
import type { Mutant } from "./mutant.ts";
import { MUTANTS } from "./mutants.ts";
import { simulate } from "./simulation.ts";

/** As many as the product itself is run with. */
const SEEDS_MAX = 500;
const caught: string[] = [];

afterAll(() => {
  process.stdout.write(`mutants:\n${caught.join("\n")}\n`);
});

/** All seeds that the mutant may be noticed in. */
function seedsOf({ every = 1, firstSeed = every }: Mutant): readonly number[] {
  const count = Math.floor(SEEDS_MAX / every);
  const seeds = Array.from({ length: count }, (_, index) => (index + 1) * every);
  const start = IS_LONG ? 0 : seeds.indexOf(firstSeed);
  return [...seeds.slice(start), ...seeds.slice(0, start)];
}

/** A simulation that notices nothing proves nothing: every safeguard taken away has to show. */
describe(`within ${SEEDS_MAX} seeds the rules notice`, () => {
  test.each(MUTANTS.map((mutant) => [mutant.name, mutant] as const))(
    "%s",
    { timeout: 120_000 },
    async (name, mutant) => {
      let violation: string | undefined;
      let seed = 0;
      for (const next of seedsOf(mutant)) {
        seed = next;
        violation = (await simulate(seed, mutant)).violations[0];
        if (violation !== undefined) break;
      }
      caught.push(`  ${name}: seed ${seed}, ${violation?.split("\n")[0] ?? "not noticed"}`);
      expect(violation).toBeDefined();
    },
  );
});
