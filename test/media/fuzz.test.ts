import { expect, test } from "vitest";
import { tolerated } from "../setup/bounds.ts";
import { fuzzFiles } from "./fuzz.ts";

/** The long check reads fifty thousand others. */
const MUTANTS = 200;
const MEGABYTE = 1024 * 1024;

const TIMES = { retry: 1, timeout: 180_000 };

test("no mutant of a good file stops the process that reads it, or fills it", TIMES, async () => {
  const figures = await fuzzFiles(MUTANTS, { factsMs: 250 });
  // oxlint-disable-next-line no-console -- the figures are what this is for
  console.log(JSON.stringify(figures));
  expect(figures.unforeseen).toEqual([]);
  const read = Object.values(figures.ends).reduce((sum, count) => sum + count, 0);
  expect(read).toBe(MUTANTS);
  // Mutants that are all taken, or all refused at the first look, would show nothing.
  expect(figures.ends["taken"]).toBeGreaterThan(MUTANTS / 10);
  expect(figures.ends["media_rejected damaged"]).toBeGreaterThan(MUTANTS / 20);
  expect(figures.ends["media_unreachable null"] ?? 0).toBe(0);
  expect(figures.blockedMs).toBeLessThan(tolerated(100));
  expect(figures.grownBytes).toBeLessThan(64 * MEGABYTE);
});
