import { expect } from "vitest";
import { violationsOf } from "./group-commit-rules.ts";
import { Simulation } from "./group-commit-simulation.ts";

export interface Seeds {
  readonly from: number;
  readonly to: number;
  /** Of each run. */
  readonly operations: number;
  readonly instances?: number;
}

/** Runs every seed and holds it against the rules; returns the outcomes that were seen. */
export async function runSeeds({ from, to, operations, instances }: Seeds): Promise<Set<string>> {
  const outcomes = new Set<string>();
  for (let seed = from; seed <= to; seed += 1) {
    const simulation = new Simulation(seed, instances);
    await simulation.run(operations);
    expect(violationsOf(simulation), `seed ${seed}`).toEqual([]);
    for (const { outcome } of simulation.submissions) {
      outcomes.add(outcome);
      if (simulation.faultRate === 0 && instances === undefined)
        expect(outcome, `seed ${seed}`).not.toBe("service_unavailable");
    }
  }
  return outcomes;
}
