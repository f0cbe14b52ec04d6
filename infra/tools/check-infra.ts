import { cp, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { BICEP_VERSION, findBicep, runBicep, type BicepRun } from "./bicep.ts";

const INFRA = resolve(import.meta.dirname, "..");

/** Parameter files with a snapshot: what the compiler predicts of a deployment. */
export const SNAPSHOTS = ["small", "large", "every-option"] as const;

/** Names of resources are made of them; no such subscription exists. */
const NOBODY = [
  "--subscription-id",
  "33333333-3333-3333-3333-333333333333",
  "--tenant-id",
  "44444444-4444-4444-4444-444444444444",
];

/** What `azd` hands over at least. */
const AZD = { AZURE_ENV_NAME: "production", AZURE_LOCATION: "westeurope" };

const isSource = (name: string) => /\.bicep(param)?$/.test(name);

/**
 * Holds a folder of templates against the compiler: types and the strict rules of its bicepconfig.json, format, every
 * parameter file, and the snapshots. Changes nothing in the folder. Returns what is wrong.
 */
export async function checkInfra(folder: string, bicep: string): Promise<string[]> {
  const copy = await mkdtemp(join(tmpdir(), "infra-"));
  try {
    await cp(folder, copy, { recursive: true });
    const lint = problemsOf("lint", await runBicep(bicep, ["lint", "main.bicep"], { cwd: copy }));
    // A template that does not compile has neither parameters nor snapshots.
    if (lint.length > 0) return lint;
    const problems = problemsOf("parameters", await buildParameters(bicep, copy));
    if (problems.length > 0) return problems;
    for (const name of SNAPSHOTS) problems.push(...(await snapshotProblems(bicep, copy, name)));
    return [...problems, ...(await formatProblems(bicep, copy))];
  } finally {
    await rm(copy, { recursive: true, force: true });
  }
}

/** Warnings count: a run that is content says nothing. */
const problemsOf = (what: string, { ok, said }: BicepRun) =>
  ok && said === "" ? [] : [`${what}: ${said}`];

const buildParameters = (bicep: string, folder: string) =>
  runBicep(bicep, ["build-params", "--pattern", "*.bicepparam"], { cwd: folder, env: AZD });

interface Snapshot {
  readonly outputs: Readonly<Record<string, unknown>>;
  readonly predictedResources: readonly { readonly id: string; readonly type: string }[];
}

/** Written out in files of their own, word for word: an edit of those is no edit of a snapshot. */
const LEFT_OUT = ["Microsoft.Insights/scheduledQueryRules", "Microsoft.Insights/workbooks"];

const byName = ([left]: readonly [string, unknown], [right]: readonly [string, unknown]) =>
  left < right ? -1 : 1;

const textOf = (snapshot: Snapshot) => `${JSON.stringify(snapshot, null, 2)}\n`;

/** Has the compiler write a snapshot beside its parameter file. Returns what it says. */
async function snapshot(bicep: string, folder: string, name: string): Promise<BicepRun> {
  const args = ["snapshot", `${name}.bicepparam`, "--mode", "overwrite", ...NOBODY];
  const ended = await runBicep(bicep, args, { cwd: folder });
  if (!ended.ok) return ended;
  const path = join(folder, `${name}.snapshot.json`);
  const written = await readSnapshot(path);
  const predictedResources = written.predictedResources.filter(
    ({ type }) => !LEFT_OUT.includes(type),
  );
  // The compiler has them in another order each time.
  const outputs = Object.fromEntries(Object.entries(written.outputs).toSorted(byName));
  await writeFile(path, textOf({ ...written, predictedResources, outputs }));
  return ended;
}

// Safe: the compiler writes it so.
const readSnapshot = async (path: string) => JSON.parse(await readFile(path, "utf8")) as Snapshot;

async function snapshotProblems(bicep: string, folder: string, name: string): Promise<string[]> {
  const path = join(folder, `${name}.snapshot.json`);
  const committed = await readSnapshot(path);
  const ended = await snapshot(bicep, folder, name);
  if (!ended.ok) return [`${name}.snapshot.json: ${ended.said}`];
  const current = await readSnapshot(path);
  if (textOf(committed) === textOf(current)) return [];
  const texts = (of: Snapshot) =>
    new Map(of.predictedResources.map((resource) => [resource.id, JSON.stringify(resource)]));
  const [before, after] = [texts(committed), texts(current)];
  const ids = new Set([...before.keys(), ...after.keys()]);
  const changed = [...ids].filter((id) => before.get(id) !== after.get(id));
  const where = changed.length === 0 ? "its outputs" : changed.join("\n");
  return [`${name}.snapshot.json is not current:\n${where}`];
}

const format = (bicep: string, folder: string) =>
  runBicep(bicep, ["format", "--pattern", "**/*.bicep*"], { cwd: folder });

async function readSources(folder: string): Promise<Map<string, string>> {
  const names = await readdir(folder, { recursive: true });
  const sources = names.filter(isSource).toSorted();
  return new Map(
    await Promise.all(
      sources.map(async (name) => [name, await readFile(join(folder, name), "utf8")] as const),
    ),
  );
}

async function formatProblems(bicep: string, folder: string): Promise<string[]> {
  const written = await readSources(folder);
  const formatted = await format(bicep, folder);
  if (!formatted.ok) return [`format: ${formatted.said}`];
  const wanted = await readSources(folder);
  return [...written]
    .filter(([name, text]) => wanted.get(name) !== text)
    .map(([name]) => `${name} is not formatted`);
}

/** Formats the templates and regenerates the snapshots. */
async function write(bicep: string): Promise<void> {
  const runs = [await format(bicep, INFRA)];
  for (const name of SNAPSHOTS) runs.push(await snapshot(bicep, INFRA, name));
  const failed = runs.find(({ ok }) => !ok);
  if (failed !== undefined) throw new Error(failed.said);
}

async function main(): Promise<void> {
  let bicep: string;
  try {
    bicep = await findBicep();
  } catch (error) {
    console.log(
      `The templates were not checked: no Bicep compiler, as ${(error as Error).message}.`,
    );
    // Where the compiler has to be there, a check that checks nothing must not pass.
    if (process.argv.includes("--required")) process.exitCode = 1;
    return;
  }
  if (process.argv.includes("--write")) await write(bicep);
  const problems = await checkInfra(INFRA, bicep);
  if (problems.length === 0) {
    console.log(`The templates are right by Bicep ${BICEP_VERSION}.`);
    return;
  }
  console.error(`${problems.join("\n\n")}\n`);
  console.error("npm run check:infra -- --write formats them and regenerates the snapshots.");
  process.exitCode = 1;
}

if (import.meta.main) await main();
