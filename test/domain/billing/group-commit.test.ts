import { describe, expect, it } from "vitest";
import { Simulation } from "./group-commit-simulation.ts";
import { violationsOf } from "./group-commit-rules.ts";

const SEEDS = 400;

describe("several processes on one wallet, with answers lost, late and wrong", () => {
  it(`breaks no rule in ${SEEDS} seeded runs`, { timeout: 120_000 }, async () => {
    const outcomes = new Map<string, number>();
    for (let seed = 1; seed <= SEEDS; seed += 1) {
      const simulation = new Simulation(seed);
      await simulation.run(60);
      expect(violationsOf(simulation), `seed ${seed}`).toEqual([]);
      for (const { outcome } of simulation.submissions)
        outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
    }
    console.log(outcomes);
  });
});
