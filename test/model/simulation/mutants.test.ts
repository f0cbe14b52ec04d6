import { readFileSync } from "node:fs";
import { afterAll, describe, expect, test } from "vitest";
import { IS_LONG } from "../../setup/long-check.ts";
import { fence } from "./fence.ts";
import { THE_PRODUCT, type Mutant } from "./mutant.ts";
import { MUTANTS_OF_ACCESS } from "./mutants-of-access.ts";
import { MUTANTS_AT_SCALE } from "./mutants-at-scale.ts";
import { MUTANTS } from "./mutants.ts";
import { MUTANTS_OF_CALLS } from "./mutants-of-calls.ts";
import { RULES } from "./rules.ts";
import { simulate } from "./simulation.ts";
import { belated, contest, listings, midnight, redrives } from "./small-models.ts";

const SEEDS_MAX = 2_000;
/** A change to the product moves what a seed shows, and the time of `npm test` must not grow by looking for it. */
const SHORT_SEEDS_MAX = 200;
const caught: string[] = [];
const ALL = [...MUTANTS, ...MUTANTS_OF_CALLS, ...MUTANTS_AT_SCALE, ...MUTANTS_OF_ACCESS];

afterAll(() => {
  process.stdout.write(`mutants:\n${caught.join("\n")}\n`);
});

/** The seeds that the mutant has to be noticed in: for `npm test` those from the one that is known to show it. */
function seedsOf({ every = 1, firstSeed = every }: Mutant): readonly number[] {
  const length = Math.floor(SEEDS_MAX / every);
  const seeds = Array.from({ length }, (_, index) => (index + 1) * every);
  const start = IS_LONG ? 0 : seeds.indexOf(firstSeed);
  const count = IS_LONG ? SEEDS_MAX : SHORT_SEEDS_MAX;
  return [...seeds.slice(start), ...seeds.slice(0, start)].slice(0, count);
}

/** What the mutant broke first, and where it shows. */
async function noticed(mutant: Mutant): Promise<readonly [where: string, violation?: string]> {
  const { shownBy } = mutant;
  if (shownBy !== undefined) {
    const [violation] = await shownBy(mutant);
    return violation === undefined ? [shownBy.name] : [shownBy.name, violation];
  }
  const seeds = seedsOf(mutant);
  for (const seed of seeds) {
    const [violation] = (await simulate(seed, mutant)).violations;
    if (violation === undefined) continue;
    const isFirst = IS_LONG || seed === seeds[0];
    return [isFirst ? `seed ${seed}` : `seed ${seed}, so let it begin there`, violation];
  }
  return [`none of ${seeds.length} seeds; \`npm run check:long -- cases\` finds the first`];
}

/** A simulation that notices nothing proves nothing: every safeguard taken away has to show. */
describe(`within ${SEEDS_MAX} seeds the rules notice`, () => {
  const tried = ALL.filter(({ isRare }) => IS_LONG || isRare !== true);
  test.each(tried.map((mutant) => [mutant.name, mutant] as const))(
    "%s",
    { timeout: 600_000 },
    async (name, mutant) => {
      const [where, violation] = await noticed(mutant);
      caught.push(`  ${name}: ${where}, ${violation?.split("\n")[0] ?? "not noticed"}`);
      expect(violation, where).toBeDefined();
    },
  );
});

test.each([contest, redrives, belated, midnight, listings, fence])(
  "nothing breaks in the small model %o",
  { timeout: 600_000 },
  async (smallModel) => {
    expect(await smallModel(THE_PRODUCT)).toEqual([]);
  },
);

test("the page about the simulation names every rule and every mutant, and no other", () => {
  const page = readFileSync("docs/dev/simulation.md", "utf8");
  const rules = [...page.matchAll(/^\| `(\w+)`/gm)].map(([, name]) => name);
  expect(rules).toEqual(Object.keys(RULES));
  const mutants = [...page.matchAll(/\b[A-Z]\d+[a-z]?\b/g)].map(([code]) => code);
  const codes = ALL.map(({ name }) => name.split(":")[0] ?? "");
  expect(mutants.sort()).toEqual(codes.sort());
});
