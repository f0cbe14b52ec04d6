import { spawn } from "node:child_process";
import { once } from "node:events";
import { globSync, readFileSync } from "node:fs";
import { fuzzFiles } from "../media/fuzz.ts";

/**
 * What takes too long for every change: `npm run check:long` runs all of it, `npm run check:long -- files simulate`
 * some. The last line printed is `N passed, N failed`.
 */
const VITEST = "node_modules/vitest/vitest.mjs";
const MUTANTS = 50_000;
const BLOCKED_MS_MAX = 100;
const GROWN_BYTES_MAX = 64 * 1024 * 1024;

const write = (line: string) => void process.stdout.write(`${line}\n`);

/** Runs a program of the tests in a process of its own, with variables on top of this one's environment. */
async function program(
  variables: Readonly<Record<string, string>>,
  ...path: readonly string[]
): Promise<boolean> {
  const child = spawn(process.execPath, path, {
    stdio: ["ignore", "inherit", "inherit"],
    env: { ...process.env, ...variables },
  });
  const [code] = (await once(child, "exit")) as [number | null];
  return code === 0;
}

/** Mutants of good files, each read as publishing reads it, with the service's own limits. */
async function files(): Promise<boolean> {
  const figures = await fuzzFiles(MUTANTS, { firstSeed: 100_001 });
  write(JSON.stringify(figures));
  const { unforeseen, blockedMs, grownBytes } = figures;
  return unforeseen.length === 0 && blockedMs <= BLOCKED_MS_MAX && grownBytes <= GROWN_BYTES_MAX;
}

/** Tests whose bounds of time are tenfold elsewhere, held to the figures themselves. */
const BOUNDED = [
  "test/text/growth.test.ts",
  "test/media/hostile-files.test.ts",
  "test/media/memory.test.ts",
  "test/process/relay/hostile.test.ts",
];

/** Tests of which `npm test` takes one case of each kind, and which take all cases here: those that ask which run it is. */
const COMBINED = [
  ...globSync("test/**/*.test.ts", { exclude: ["**/node_modules"] }).filter((path) =>
    readFileSync(path, "utf8").includes("/setup/long-check.ts"),
  ),
  // These ask through what they import.
  "test/http/identity-faults.test.ts",
  "test/networks/contract",
  "test/tenants/counts-faults.test.ts",
];

/** Tests that `npm test` runs, too, told by a variable that this is the long check. */
const testsWith = (variable: string, ...args: readonly string[]) =>
  program({ [variable]: "true" }, VITEST, "run", ...args);

/** A file of tests that `npm test` leaves out. */
const tests = (name: string) =>
  program({}, VITEST, "run", "--config", "test/long/vitest.config.ts", `test/long/${name}.long.ts`);

const PARTS: Readonly<Record<string, () => Promise<boolean>>> = {
  access: () => tests("access"),
  bounds: async () =>
    (await testsWith("EXACT_BOUNDS", "--maxWorkers=1", ...BOUNDED)) &&
    (await tests("silent-names")),
  cases: () => testsWith("LONG_CHECK", ...COMBINED),
  files,
  floods: () => tests("floods"),
  heic: () => tests("heic"),
  large: async () => (await tests("large-files")) && (await tests("slow-storage")),
  generators: () => tests("generators"),
  infra: () => tests("infra"),
  load: () => tests("schedule"),
  mail: () => tests("mail"),
  whole: () => tests("outage"),
  releases: () => tests("releases"),
  walks: () => tests("walks"),
  writers: () => tests("writers"),
  simulate: () => program({}, "test/model/simulation/simulate.ts"),
  soak: () => program({}, "test/process/soak/main.ts"),
};

const asked = process.argv.slice(2);
const unknown = asked.filter((name) => PARTS[name] === undefined);
if (unknown.length > 0)
  throw new Error(`there is no part ${unknown.join(", ")}: ${Object.keys(PARTS).join(", ")}`);

let failed = 0;
const parts = Object.entries(PARTS).filter(([name]) => asked.length === 0 || asked.includes(name));
for (const [name, run] of parts) {
  const startedAt = performance.now();
  const isPassed = await run();
  if (!isPassed) failed += 1;
  const seconds = Math.round((performance.now() - startedAt) / 1000);
  write(`${name}: ${isPassed ? "passed" : "failed"} after ${seconds} s`);
}
write(`${parts.length - failed} passed, ${failed} failed`);
process.exitCode = failed === 0 ? 0 : 1;
