import { readFile, writeFile } from "node:fs/promises";

/*
 * Takes the indentation from a file of types. It is most of the file's bytes, and keeps what compresses them from seeing
 * far: without it, the client's package is a twentieth smaller.
 */
const [path = ""] = process.argv.slice(2);
await writeFile(path, (await readFile(path, "utf8")).replaceAll(/^ +/gm, ""));
