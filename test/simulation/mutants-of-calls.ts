import type { Mutant } from "./mutant.ts";
import { committing, writingLegsOf } from "./mutation.ts";

/** The product without a safeguard of the calls that follow a leg's publication. */
export const MUTANTS_OF_CALLS: readonly Mutant[] = [
  {
    name: "R1: a removal that ends a leg",
    era: 61,
    firstSeed: 20,
    services: (services) =>
      committing(
        services,
        writingLegsOf("end-call|", (leg) => ({ ...leg, status: "failed" })),
      ),
  },
];
