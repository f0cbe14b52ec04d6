import { execFileSync } from "node:child_process";

/** Fewer modules than this means that dependency-cruiser could not read the sources at all, and then it passes. */
const MODULES_MIN = 40;

const output = execFileSync(
  process.execPath,
  [
    "node_modules/dependency-cruiser/bin/dependency-cruise.mjs",
    "--config",
    ".dependency-cruiser.mjs",
    "--output-type",
    "json",
    "src",
  ],
  { encoding: "utf8", maxBuffer: 64 * 1024 * 1024 },
);
const { summary, modules } = JSON.parse(output) as {
  summary: { violations: { rule: { name: string }; from: string; to: string }[] };
  modules: { source: string }[];
};
const read = modules.filter((module) => module.source.startsWith("src/")).length;
for (const { rule, from, to } of summary.violations)
  console.error(`${rule.name}: ${from} -> ${to}`);
if (read < MODULES_MIN) {
  console.error(
    `dependency-cruiser read only ${read} modules of src; at least ${MODULES_MIN} are there`,
  );
  process.exit(1);
}
console.log(`layers: ${read} modules read, ${summary.violations.length} violations`);
process.exit(summary.violations.length === 0 ? 0 : 1);
