import { readFile, writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { format } from "prettier";
import type { Stage } from "./life-of-post.ts";
import type { Cost } from "./round-trips.ts";

/** Counts and ratios alone: other figures say more of the machine than of the product. */
type Result = number | string | readonly string[] | { readonly [name: string]: Result };
export type Results = Readonly<Record<string, Result>>;

const FILE = fileURLToPath(new URL("./results.json", import.meta.url));

export const ratio = (value: number) => Math.round(value * 100) / 100;

async function readResults(): Promise<Results> {
  return JSON.parse(await readFile(FILE, "utf8")) as Results;
}

async function readSection<Section>(name: string): Promise<Section> {
  const section = (await readResults())[name];
  if (section === undefined) throw new Error(`bench/results.json has no figures of ${name}`);
  // Safe: the benchmark of that section wrote it.
  return section as unknown as Section;
}

/** What each request cost when it was counted last. */
export const readCosts = () =>
  readSection<Readonly<Record<string, Cost | undefined>>>("roundTrips");

/** What each stage of a post's life cost when it was counted last. */
export const readLife = () =>
  readSection<Readonly<Record<string, Omit<Stage, "name" | "bytes"> | undefined>>>("lifeOfPost");

/** What the app loaded at its start when it was measured last. */
export const readStart = () =>
  readSection<{ readonly bytesAtStart: number; readonly packagesAtStart: readonly string[] }>(
    "coldStart",
  );

/** Puts a benchmark's figures in the place of its earlier ones. */
export async function saveResults(bench: string, results: Result): Promise<void> {
  const before = await readResults().catch((error: unknown): Results => {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return {};
    throw error;
  });
  const all = Object.entries({ ...before, [bench]: results }).sort(([left], [right]) =>
    left.localeCompare(right),
  );
  const text = JSON.stringify(Object.fromEntries(all));
  await writeFile(FILE, await format(text, { parser: "json", printWidth: 100 }));
}
