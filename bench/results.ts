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

/** What each request cost when it was counted last. */
export async function readCosts(): Promise<Readonly<Record<string, Cost | undefined>>> {
  // Safe: `counts.ts` wrote it.
  return ((await readResults())["roundTrips"] ?? {}) as unknown as Record<string, Cost>;
}

/** What each stage of a post's life cost when it was counted last. */
export async function readLife(): Promise<
  Readonly<Record<string, Omit<Stage, "name" | "bytes"> | undefined>>
> {
  const { lifeOfPost } = await readResults();
  if (lifeOfPost === undefined)
    throw new Error("bench/results.json says nothing of the life of a post");
  // Safe: `counts.ts` wrote it.
  return lifeOfPost as unknown as Record<string, Stage>;
}

/** What the app loaded at its start when it was measured last. */
export async function readStart(): Promise<{
  readonly bytesAtStart: number;
  readonly packagesAtStart: readonly string[];
}> {
  const { coldStart } = await readResults();
  if (coldStart === undefined) throw new Error("bench/results.json says nothing of the start");
  // Safe: `cold-start.ts` wrote it.
  return coldStart as { bytesAtStart: number; packagesAtStart: readonly string[] };
}

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
