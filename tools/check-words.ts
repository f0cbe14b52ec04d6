import { readFileSync } from "node:fs";
import { beyondLimits, findAllWords } from "./words.ts";

// Names words in comments, strings and documents that read as translated. `words.json` has the folders that still have
// some: their numbers only fall.

const limits = JSON.parse(readFileSync(new URL("words.json", import.meta.url), "utf8")) as Readonly<
  Record<string, number>
>;
const findings = findAllWords(process.cwd());
const beyond = beyondLimits(findings, limits);
for (const { file, line, found, better } of beyond)
  console.error(`${file}:${line}: "${found}": write ${better}`);
console.log(`words: ${findings.length} left in folders with a limit, ${beyond.length} to fix`);
process.exitCode = beyond.length === 0 ? 0 : 1;
