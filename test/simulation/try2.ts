import { simulate } from "./simulation.ts";
import { MUTANTS } from "./mutants.ts";
for (const m of MUTANTS) {
  const t = Date.now();
  let caught = 0,
    first = 0;
  let sample = "";
  const n = Number(process.argv[2] ?? 60);
  for (let seed = 1; seed <= n; seed++) {
    const o = await simulate(seed, m);
    if (o.violations.length) {
      caught++;
      if (!first) {
        first = seed;
        sample = o.violations[0].slice(0, 160);
      }
    }
  }
  console.log(m.name, `${caught}/${n}`, "first", first, sample, Date.now() - t, "ms");
}
