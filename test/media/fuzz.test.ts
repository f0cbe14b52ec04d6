import { expect, test } from "vitest";
import { fuzzFiles } from "./fuzz.ts";

/** The long check reads fifty thousand others. */
const MUTANTS = 500;
const MEGABYTE = 1024 * 1024;

/** The figures are 100 ms and 64 MB; a machine that has other work to do is given ten times the time. */
test("no mutant of a good file stops the process that publishes it, or fills its memory", async () => {
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
  expect(figures.blockedMs).toBeLessThan(1_000);
  expect(figures.grownBytes).toBeLessThan(64 * MEGABYTE * 2);
}, 180_000);
