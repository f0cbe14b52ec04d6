import { afterAll, describe, expect, test } from "vitest";
import { MUTANTS } from "./mutants.ts";
import { simulate } from "./simulation.ts";

/** As many as the product itself is run with. */
const SEEDS_MAX = 500;
const caught: string[] = [];

afterAll(() => {
  process.stdout.write(`mutants:\n${caught.join("\n")}\n`);
});

/** A simulation that notices nothing proves nothing: every safeguard taken away has to show. */
describe(`within ${SEEDS_MAX} seeds the rules notice`, () => {
  test.each(MUTANTS.map((mutant) => [mutant.name, mutant] as const))(
    "%s",
    { timeout: 120_000 },
    async (name, mutant) => {
      const { every = 1 } = mutant;
      let seed = 0;
      let violation: string | undefined;
      while (violation === undefined && seed + every <= SEEDS_MAX) {
        seed += every;
        violation = (await simulate(seed, mutant)).violations[0];
      }
      caught.push(`  ${name}: seed ${seed}, ${violation?.split("\n")[0] ?? "not noticed"}`);
      expect(violation).toBeDefined();
    },
  );
});
