import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { expect, test } from "vitest";
import { TABLE_NAMES } from "../../src/shared/runtime/storage/tables.ts";

const page = await readFile("docs/dev/storage.md", "utf8");

test("the page on storage has every kind of row once", async () => {
  const { rowKinds } = JSON.parse(await readFile("tools/structure.json", "utf8")) as {
    readonly rowKinds: Readonly<Record<string, readonly string[]>>;
  };
  const described = [...page.matchAll(/^\| `([^`]+)` +\|/gm)].map(([, kind]) => kind ?? "");
  const kinds = Object.values(rowKinds).flat();
  const inOrder = (names: readonly string[]) => names.toSorted((a, b) => a.localeCompare(b));
  expect(inOrder(described)).toEqual(inOrder(kinds));
});

test("the page on storage names every table, and files that exist", () => {
  expect(TABLE_NAMES.filter((name) => !page.includes(`\`${name}\``))).toEqual([]);
  const files = [...page.matchAll(/`([a-z-]+\/[a-z/-]+\.ts)`/g)].map(([, file]) => file ?? "");
  const isThere = (file: string) => existsSync(`src/shared/${file}`) || existsSync(file);
  expect(files.filter((file) => !isThere(file))).toEqual([]);
});

test("the page on the life of a post names files that exist", async () => {
  const life = await readFile("docs/dev/life-of-a-post.md", "utf8");
  const files = [...life.matchAll(/`([\w/-]+\.ts)`/g)].map(([, file = ""]) => file);
  expect(files.length).toBeGreaterThan(20);
  expect(
    files.filter((file) => !existsSync(file) && !existsSync(`src/shared/publishing/${file}`)),
  ).toEqual([]);
});
