import { namesOf } from "./source-figures.ts";
import { sourcesOf } from "./structure.ts";

// Fails when a name of a function, class or type stands for two things in `src`, the networks' folders aside, when a type
// is named by a bare participle, and when a thing is exported under another name than it is declared under: a reader
// should find what a name means with one search.

const { inTwoFiles, participles, aliases } = namesOf(sourcesOf(process.cwd()));
for (const { name, paths } of inTwoFiles)
  console.error(`${name} is declared in ${paths.join(" and ")}: give each thing a name of its own`);
for (const { name, paths } of participles)
  console.error(`${paths.join()}: the type ${name} is named by a participle: use a noun`);
for (const { name, paths } of aliases)
  console.error(`${paths.join()}: ${name} is exported as an alias: export it under its own name`);
console.log(
  `names: ${inTwoFiles.length} in two files, ${participles.length} types that are participles, ${aliases.length} aliases`,
);
process.exitCode = inTwoFiles.length + participles.length + aliases.length === 0 ? 0 : 1;
