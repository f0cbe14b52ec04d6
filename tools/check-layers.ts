import { globSync } from "node:fs";
import { resolve } from "node:path";
import { cruise } from "dependency-cruiser";
import extractDepcruiseOptions from "dependency-cruiser/config-utl/extract-depcruise-options";
import extractTSConfig from "dependency-cruiser/config-utl/extract-ts-config";

const options = await extractDepcruiseOptions(resolve(".dependency-cruiser.mjs"));
const tsConfig = extractTSConfig("tsconfig.json");
const { output } = await cruise(["src"], options, undefined, { tsConfig });
if (typeof output === "string") throw new Error("dependency-cruiser answered text, not its result");
const read = output.modules.filter((module) => /^src\/.*\.ts$/.test(module.source)).length;
for (const { rule, from, to } of output.summary.violations)
  console.error(`${rule.name}: ${from} -> ${to}`);
// What dependency-cruiser can't read it passes in silence.
const modules = globSync("src/**/*.ts").length;
if (read !== modules) {
  console.error(`dependency-cruiser read ${read} modules of ${modules}`);
  process.exit(1);
}
console.log(`layers: ${read} modules read, ${output.summary.violations.length} violations`);
process.exit(output.summary.violations.length === 0 ? 0 : 1);
