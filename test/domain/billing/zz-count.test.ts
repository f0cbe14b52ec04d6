import { it } from "vitest";
import { Simulation } from "./group-commit-simulation.ts";
import { violationsOf } from "./group-commit-rules.ts";
it("count", { timeout: 300_000 }, async () => {
  const kinds = new Map<string, number>(); let bad = 0; const outcomes = new Map<string, number>();
  const t0 = process.hrtime.bigint();
  for (let seed = 1; seed <= 400; seed += 1) {
    const simulation = new Simulation(seed);
    try { await simulation.run(60); } catch (e) { kinds.set(String(e), (kinds.get(String(e)) ?? 0) + 1); bad++; continue; }
    const v = violationsOf(simulation);
    if (v.length) { bad++; if (bad < 6) console.log(seed, v); }
    for (const one of v) { const k = one.replace(/operation \d+/g, "op").replace(/instance \d/g, "i"); kinds.set(k, (kinds.get(k) ?? 0) + 1); }
    for (const { outcome } of simulation.submissions) outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
  }
  console.log(bad, kinds, outcomes, Number(process.hrtime.bigint() - t0) / 1e9);
});
