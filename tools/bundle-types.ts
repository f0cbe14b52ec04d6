import { readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";

/*
 * Puts the types of the client's package into one file beside that of the API's, both without indentation. So the
 * package is a tenth smaller: each file has a header and imports, and white space is most of a file of types.
 */
const [folder = "", ...modules] = process.argv.slice(2);
const read = (name: string) => readFile(join(folder, `${name}.d.ts`), "utf8");

const parts = await Promise.all(modules.map(read));
const imports = new Set<string>();
const declarations = parts.map((part) =>
  part
    .replaceAll(/^import type .* from "\.\/made\/.*\n/gm, (line) => {
      imports.add(line);
      return "";
    })
    .replaceAll(/^import .* from "\.\/.*\n/gm, "")
    .replaceAll(/^export (?:\{\};\n)?/gm, ""),
);
// What the entry exports is all that is exported.
const entry = (await read("index")).replaceAll(/ from "\.\/.*"/g, "");
const bundle = [...imports, ...declarations, entry].join("");
for (const [name, text] of [
  ["index", bundle],
  ["made/api", await read("made/api")],
] as const)
  await writeFile(join(folder, `${name}.d.ts`), text.replaceAll(/^ +/gm, ""));
for (const name of await readdir(folder, { recursive: true }))
  if (/(?<!index|api)\.d\.ts$/.test(name)) await rm(join(folder, name));
