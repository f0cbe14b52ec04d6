import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { build, type BuildOptions } from "esbuild";
import type { StartOrder, StartReport } from "./starter.ts";

/** What the host provides. */
const CORE = "@azure/functions-core";
const CHILD_MS_MAX = 60_000;

/** Loads the library alone, and registers as many functions as a check on its answer needs. */
const LIBRARY_ALONE =
  'import { app } from "@azure/functions"; app.http("one", { authLevel: "anonymous", handler: () => ({}) });';

const PRINT_CPU_MS =
  "const { user, system } = process.cpuUsage(); process.stdout.write(String((user + system) / 1000))";

export interface Starting {
  /** An entry that has `@azure/functions` and nothing else. */
  readonly libraryEntry: string;
  readonly appEntry: string;
  /** Starts the app in a process of its own, as the Functions worker does, and ends it. */
  start(
    order: StartOrder,
    environment: Readonly<Record<string, string>>,
  ): Promise<{ readonly report: StartReport; readonly wholeMs: number }>;
  /** `node -e 0`: its whole life, and the CPU time that one like it used. */
  bareNode(): Promise<{ readonly wholeMs: number; readonly cpuMs: number }>;
  stop(): Promise<void>;
}

async function timed(
  args: readonly string[],
  environment: Readonly<Record<string, string>>,
): Promise<{ readonly output: string; readonly wholeMs: number }> {
  const startedAt = performance.now();
  const child = spawn(process.execPath, args, {
    env: { ...environment },
    stdio: ["ignore", "pipe", "pipe"],
    timeout: CHILD_MS_MAX,
  });
  const text = { out: "", error: "" };
  child.stdout.setEncoding("utf8").on("data", (chunk: string) => {
    text.out += chunk;
  });
  child.stderr.setEncoding("utf8").on("data", (chunk: string) => {
    text.error += chunk;
  });
  const exited = once(child, "exit").then(() => performance.now() - startedAt);
  await once(child, "close");
  if (child.exitCode !== 0)
    throw new Error(`a process that was started ended with ${child.exitCode}:\n${text.error}`);
  return { output: text.out, wholeMs: await exited };
}

/** Makes what starts the app without the time that Node needs to strip types. The app has to be built before. */
export async function prepareStarting(): Promise<Starting> {
  const folder = await mkdtemp(join(tmpdir(), "starting-"));
  const starter = join(folder, "starter.js");
  const libraryEntry = join(folder, "library.js");
  const asEsm = {
    bundle: true,
    platform: "node",
    format: "esm",
    minify: true,
    external: [CORE],
    banner: {
      js: 'import { createRequire } from "node:module"; const require = createRequire(import.meta.url);',
    },
  } satisfies BuildOptions;
  await Promise.all([
    build({ ...asEsm, entryPoints: [resolve("bench/starter.ts")], outfile: starter, banner: {} }),
    build({
      ...asEsm,
      stdin: { contents: LIBRARY_ALONE, resolveDir: process.cwd() },
      outfile: libraryEntry,
    }),
    writeFile(join(folder, "package.json"), '{ "type": "module" }'),
  ]);
  return {
    libraryEntry,
    appEntry: resolve("dist/main.js"),
    async start(order, environment) {
      const { output, wholeMs } = await timed([starter, JSON.stringify(order)], environment);
      // Safe: the program above prints nothing else.
      return { report: JSON.parse(output) as StartReport, wholeMs };
    },
    async bareNode() {
      const { wholeMs } = await timed(["-e", "0"], {});
      return { wholeMs, cpuMs: Number((await timed(["-e", PRINT_CPU_MS], {})).output) };
    },
    stop: () => rm(folder, { recursive: true, force: true }),
  };
}

/** The package that a module file lies in; undefined for a file of the bundle and for node's own. */
export function installedPackage(url: string): string | undefined {
  const path = url.split("/node_modules/").at(-1);
  if (path === undefined || path === url) return undefined;
  const [scope = "", name = ""] = path.split("/");
  return scope.startsWith("@") ? `${scope}/${name}` : scope;
}
