import { expect, test } from "vitest";
import { KeptRows } from "../../src/shared/http/access/kept-rows.ts";

const NOW = new Date("2026-03-04T10:00:00.000Z");
const after = (ms: number) => new Date(NOW.getTime() + ms);

const row = (name: string, value: string, version = "one") => ({
  version,
  name,
  value,
  readAt: NOW,
});

test("a row is kept for half a minute, and not by a clock that went back", () => {
  const kept = new KeptRows();
  kept.keep("a", row("P", "text"));
  const found = (now: Date) => kept.of("a", "one", now)?.find("P")?.value;
  expect([found(NOW), found(after(30_000))]).toEqual(["text", "text"]);
  expect([found(after(30_001)), found(after(-1))]).toEqual([undefined, undefined]);
});

test("a platform's rows go when its version moves, and none is kept under an absent one", () => {
  const kept = new KeptRows();
  kept.keep("a", row("P", "text"));
  kept.keep("a", row("K", "text", ""));
  expect(kept.of("a", "one", NOW)?.find("K")).toBeUndefined();
  expect(kept.of("a", "another", NOW)).toBeUndefined();
  expect(kept.size).toEqual({ rows: 0, characters: 0 });
  kept.keep("a", row("P", "text"));
  kept.keep("a", row("K", "text", "another"));
  expect(kept.of("a", "another", NOW)?.find("P")).toBeUndefined();
  expect(kept.size.rows).toBe(1);
});

test("rows are bounded in number and size, of a platform and of all", () => {
  const limits = { rows: 6, characters: 60, rowsOfPlatform: 3, charactersOfPlatform: 40 };
  const kept = new KeptRows(limits);
  for (let index = 0; index < 5; index += 1) kept.keep("a", row(`K|${index}`, "1234"));
  // The oldest went first. JSON has the quotes, too.
  expect(kept.size).toEqual({ rows: 3, characters: 18 });
  expect(kept.of("a", "one", NOW)?.find("K|1")).toBeUndefined();
  expect(kept.of("a", "one", NOW)?.find("K|2")).toBeDefined();
  kept.keep("a", row("big", "x".repeat(50)));
  expect(kept.of("a", "one", NOW)?.find("big")).toBeUndefined();
  for (const platformId of ["b", "c", "d"])
    for (const name of ["P", "K"]) kept.keep(platformId, row(name, "1234"));
  expect(kept.size.rows).toBeLessThanOrEqual(limits.rows);
  expect(kept.of("a", "one", NOW)).toBeUndefined();
  expect(kept.of("d", "one", NOW)?.find("K")).toBeDefined();
  for (let index = 0; index < 20; index += 1) kept.keep(`e${index}`, row("P", "x".repeat(30)));
  expect(kept.size.characters).toBeLessThanOrEqual(limits.characters);
});
