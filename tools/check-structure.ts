import { readFileSync, writeFileSync } from "node:fs";
import { resolve } from "node:path";
import { format } from "prettier";
import { problemsOf, structureOf, type Limits } from "./structure.ts";

// Prints figures of the code's structure, and fails when one that has a limit is beyond it. A commit that adds a
// feature raises the limits in `structure.json` to what `--update` measures, and says why.

const FILE = new URL("structure.json", import.meta.url);

// By a name that the compiler does not follow: the file has no types.
const { FOLDERS } = (await import(resolve(".dependency-cruiser.mjs"))) as {
  readonly FOLDERS: readonly string[];
};
const limits = JSON.parse(readFileSync(FILE, "utf8")) as Limits;
const structure = structureOf(process.cwd(), FOLDERS);
const { figures } = structure;
if (process.argv.includes("--update")) {
  Object.assign(limits, figures);
  writeFileSync(FILE, await format(JSON.stringify(limits), { parser: "json", printWidth: 100 }));
}
const isVerbose = process.argv.includes("--verbose");

const list = (name: string, places: readonly string[]) => {
  console.log(`${name}: ${places.length}`);
  if (isVerbose) for (const place of places) console.log(`  ${place}`);
};

console.log("with a limit:");
console.log(`functions in 10,000 tokens: ${figures.functionsPer10000Tokens}`);
console.log(`functions of at most eight lines with one use: ${figures.functionsWithOneUse}`);
console.log(`names of functions, types and classes in two files: ${figures.namesInTwoFiles}`);
console.log(`types named by a participle: ${figures.participleTypes}`);
const modules = Object.entries(figures.tokens).map(([module, count]) => `${module} ${count}`);
console.log(`tokens: ${modules.join(", ")}`);
for (const [role, kinds] of Object.entries(limits.rowKinds))
  list(
    `row kinds, ${role}`,
    kinds.filter((kind) => structure.rowKinds.includes(kind)),
  );
list("queues", structure.queues);
const deps = [...structure.deps].sort(([, left], [, right]) => right.leaves - left.leaves);
const sizes = deps.map(([name, { fields, leaves }]) => `${name} ${fields} (${leaves})`);
console.log(`fields of deps (and what they hold): ${sizes.join(", ")}`);
list("stores of other modules used", structure.foreignStores);
list("cycles between folders", structure.folderCycles);
list("imports that run up", structure.importsUp);

const problems = problemsOf(structure, limits);
for (const problem of problems) console.error(problem);
if (problems.length > 0)
  console.error(
    `Make it smaller, or raise the limit in tools/structure.json (npm run check:structure -- --update) and say why.`,
  );
process.exitCode = problems.length === 0 ? 0 : 1;
