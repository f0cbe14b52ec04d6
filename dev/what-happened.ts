import { createReadStream, existsSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { parseArgs } from "node:util";
import { localFolder } from "./local-folder.ts";

/**
 * What the local host's log tells of a request, a trace or a post, whichever id is given: the lines under the id itself,
 * then those of the posts that they name. `--json` prints the lines as they are.
 */
const USAGE = "node dev/what-happened.ts <request id, trace id or post id> [--json]";
const HIDDEN: ReadonlySet<string> = new Set(["at", "level", "message", "requestId", "traceId"]);

type Line = Readonly<Record<string, unknown>>;

function isObject(value: unknown): value is Line {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function parsed(text: string): Line | undefined {
  if (!text.startsWith("{")) return undefined;
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) && typeof value["message"] === "string" ? value : undefined;
  } catch {
    return undefined;
  }
}

async function readLines(file: string): Promise<Line[]> {
  const lines: Line[] = [];
  for await (const text of createInterface({ input: createReadStream(file) })) {
    const line = parsed(text);
    if (line !== undefined) lines.push(line);
  }
  return lines;
}

/** The ids under which a line is found: its own, and those of what it did something to. */
function idsOf(line: Line): unknown[] {
  const audit = isObject(line["audit"]) ? line["audit"] : {};
  const target = isObject(audit["target"]) ? audit["target"] : {};
  return [line["requestId"], line["traceId"], line["postId"], audit["requestId"], target["id"]];
}

function postsOf(line: Line): unknown[] {
  return idsOf(line).filter((id) => typeof id === "string" && id.startsWith("pst_"));
}

/** The log's lines about an id, in their order. */
export function linesAbout(lines: readonly Line[], id: string): Line[] {
  const asked = lines.filter((line) => idsOf(line).includes(id));
  const posts = new Set(asked.flatMap(postsOf));
  return lines.filter(
    (line) => asked.includes(line) || idsOf(line).some((found) => posts.has(found)),
  );
}

function shown(line: Line): string {
  const details = Object.entries(line)
    .filter(([name]) => !HIDDEN.has(name))
    .map(([name, value]) => `${name}=${typeof value === "string" ? value : JSON.stringify(value)}`);
  const level = String(line["level"]).padEnd(5);
  return `${String(line["at"])}  ${level}  ${String(line["message"]).padEnd(16)}  ${details.join(" ")}`;
}

async function main(): Promise<number> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { json: { type: "boolean", default: false } },
  });
  const [id, ...more] = positionals;
  if (id === undefined || more.length > 0) {
    console.error(`Usage: ${USAGE}`);
    return 2;
  }
  const file = join(localFolder(), "host.log");
  if (!existsSync(file)) {
    console.error(`There is no ${file}: npm start writes it.`);
    return 1;
  }
  const found = linesAbout(await readLines(file), id);
  if (found.length === 0) {
    console.error(`${file} has no line about ${id}. Each start begins a new file.`);
    return 1;
  }
  for (const line of found) console.log(values.json ? JSON.stringify(line) : shown(line));
  return 0;
}

if (import.meta.main) process.exitCode = await main();
