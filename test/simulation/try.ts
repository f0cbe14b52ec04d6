import { simulate } from "./simulation.ts";
const from = Number(process.argv[2] ?? 1),
  to = Number(process.argv[3] ?? 20);
const t = Date.now();
let bad = 0;
for (let seed = from; seed <= to; seed++) {
  const o = await simulate(seed);
  if (o.violations.length > 0) {
    bad++;
    if (bad < 8)
      console.log(
        seed,
        JSON.stringify(
          o.violations.slice(0, 4).map((v) => v.slice(0, 900)),
          null,
          1,
        ),
      );
  }
  if (from === to) console.log(o);
}
console.log("ms", Date.now() - t, "bad", bad);
