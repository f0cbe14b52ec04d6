import { readFile } from "node:fs/promises";
import { SourceMap, type SourceMapPayload } from "node:module";
import { dirname, relative, resolve } from "node:path";
import { text } from "node:stream/consumers";

/*
 * Reads a log's stack from standard input and prints it with places in the sources instead of the bundle. It needs the
 * maps that `npm run package` left in `dist` of the checkout that was deployed; they are never deployed themselves.
 */

/** A place in the bundle, wherever the app's folder is: `…/dist/parts/accept-ABCDEFGH.js:1:2345`. */
const PLACE = /(?:file:\/\/)?[^\s()]*?\b(dist\/(?:parts\/)?[\w.-]+\.js):(\d{1,9}):(\d{1,9})/g;

const maps = new Map<string, SourceMap | undefined>();

async function readMap(file: string): Promise<SourceMap | undefined> {
  try {
    // Safe: the build wrote it.
    return new SourceMap(JSON.parse(await readFile(`${file}.map`, "utf8")) as SourceMapPayload);
  } catch {
    console.error(`${file}.map is not here: read the stack in the checkout that was deployed`);
    return undefined;
  }
}

const stack = await text(process.stdin);
for (const [, file = ""] of stack.matchAll(PLACE))
  if (!maps.has(file)) maps.set(file, await readMap(file));

const withSources = stack.replaceAll(PLACE, (place, file: string, line: string, column: string) => {
  // The map counts from zero, a stack from one.
  const entry = maps.get(file)?.findEntry(Number(line) - 1, Number(column) - 1);
  if (entry === undefined || !("originalSource" in entry)) return place;
  const source = relative(process.cwd(), resolve(dirname(file), entry.originalSource));
  return `${source}:${entry.originalLine + 1}:${entry.originalColumn + 1}`;
});
process.stdout.write(withSources);
