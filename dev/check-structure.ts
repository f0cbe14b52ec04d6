import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { problemsOf, structureOf, type Limits } from "./structure.ts";

// Prints figures of the code's structure, and fails when one that has a limit is beyond it. A commit that adds a
// feature raises the limit in `structure.json`, and says why.

const FILE = new URL("structure.json", import.meta.url);

// By a name that the compiler does not follow: the file has no types.
const { FOLDERS } = (await import(resolve(".dependency-cruiser.mjs"))) as {
  readonly FOLDERS: readonly string[];
};
const limits = JSON.parse(readFileSync(FILE, "utf8")) as Limits;
const structure = structureOf(process.cwd(), FOLDERS);
const isVerbose = process.argv.includes("--verbose");

const list = (name: string, places: readonly string[]) => {
  console.log(`${name}: ${places.length}`);
  if (isVerbose) for (const place of places) console.log(`  ${place}`);
};

console.log("with a limit:");
for (const [tree, count] of Object.entries(structure.lines))
  console.log(`lines of ${tree}: ${count} of ${limits.lines[tree]}`);
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
list("files over 350 lines", structure.longFiles);
list("functions over 60 lines", structure.longFunctions);

const problems = problemsOf(structure, limits);
for (const problem of problems) console.error(problem);
if (problems.length > 0)
  console.error(`Make it smaller, or raise the limit in dev/structure.json and say why.`);
process.exitCode = problems.length === 0 ? 0 : 1;
