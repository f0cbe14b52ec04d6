import { resolve } from "node:path";
import { cruise } from "dependency-cruiser";
import extractDepcruiseOptions from "dependency-cruiser/config-utl/extract-depcruise-options";
import extractTSConfig from "dependency-cruiser/config-utl/extract-ts-config";

/** Fewer modules than this means that dependency-cruiser could not read the sources at all, and then it passes. */
const MODULES_MIN = 100;

const options = await extractDepcruiseOptions(resolve(".dependency-cruiser.mjs"));
const tsConfig = extractTSConfig("tsconfig.json");
const { output } = await cruise(["src"], options, undefined, { tsConfig });
if (typeof output === "string") throw new Error("dependency-cruiser answered text, not its result");
const read = output.modules.filter((module) => module.source.startsWith("src/")).length;
for (const { rule, from, to } of output.summary.violations)
  console.error(`${rule.name}: ${from} -> ${to}`);
if (read < MODULES_MIN) {
  console.error(`dependency-cruiser read only ${read} modules; src has at least ${MODULES_MIN}`);
  process.exit(1);
}
console.log(`layers: ${read} modules read, ${output.summary.violations.length} violations`);
process.exit(output.summary.violations.length === 0 ? 0 : 1);
