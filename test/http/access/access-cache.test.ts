import { expect, test } from "vitest";
import { AccessCache } from "../../../src/shared/http/access/access-cache.ts";

const NOW = new Date("2026-03-04T10:00:00.000Z");
const after = (ms: number) => new Date(NOW.getTime() + ms);

const row = (name: string, value: string, version = "one") => ({
  version,
  name,
  value,
  readAt: NOW,
});

test("a cached row is used for half a minute, and not by a clock that was set back", () => {
  const cache = new AccessCache();
  cache.add("a", row("P", "text"));
  const found = (now: Date) => cache.of("a", "one", now)?.find("P")?.value;
  expect([found(NOW), found(after(30_000))]).toEqual(["text", "text"]);
  expect([found(after(30_001)), found(after(-1))]).toEqual([undefined, undefined]);
});

test("a platform's cached rows are dropped when its version changes, and none is cached without a version", () => {
  const cache = new AccessCache();
  cache.add("a", row("P", "text"));
  cache.add("a", row("K", "text", ""));
  expect(cache.of("a", "one", NOW)?.find("K")).toBeUndefined();
  expect(cache.of("a", "another", NOW)).toBeUndefined();
  expect(cache.size).toEqual({ rows: 0, characters: 0 });
  cache.add("a", row("P", "text"));
  cache.add("a", row("K", "text", "another"));
  expect(cache.of("a", "another", NOW)?.find("P")).toBeUndefined();
  expect(cache.size.rows).toBe(1);
});

test("cached rows are bounded in number and size, per platform and in total", () => {
  const limits = { rows: 6, characters: 60, rowsOfPlatform: 3, charactersOfPlatform: 40 };
  const cache = new AccessCache(limits);
  for (let index = 0; index < 5; index += 1) cache.add("a", row(`K|${index}`, "1234"));
  // The oldest went first. JSON has the quotes, too.
  expect(cache.size).toEqual({ rows: 3, characters: 18 });
  expect(cache.of("a", "one", NOW)?.find("K|1")).toBeUndefined();
  expect(cache.of("a", "one", NOW)?.find("K|2")).toBeDefined();
  cache.add("a", row("big", "x".repeat(50)));
  expect(cache.of("a", "one", NOW)?.find("big")).toBeUndefined();
  for (const platformId of ["b", "c", "d"])
    for (const name of ["P", "K"]) cache.add(platformId, row(name, "1234"));
  expect(cache.size.rows).toBeLessThanOrEqual(limits.rows);
  expect(cache.of("a", "one", NOW)).toBeUndefined();
  expect(cache.of("d", "one", NOW)?.find("K")).toBeDefined();
  for (let index = 0; index < 20; index += 1) cache.add(`e${index}`, row("P", "x".repeat(30)));
  expect(cache.size.characters).toBeLessThanOrEqual(limits.characters);
});
