import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { expect, test } from "vitest";

const { FOLDERS } = (await import(resolve(".dependency-cruiser.mjs"))) as {
  readonly FOLDERS: readonly string[];
};

/** Returns the drawing of a page. */
function drawingOf(page: string): string {
  const drawing = /^```mermaid\n([\s\S]*?)^```$/m.exec(readFileSync(page, "utf8"))?.[1];
  if (drawing === undefined) throw new Error(`${page} has no drawing`);
  return drawing;
}

test("the drawing of the modules has every folder, in the order of the layers", () => {
  const boxes = [...drawingOf("docs/dev/architecture.md").matchAll(/(\w+)\["(\w+)<br>/g)];
  expect(boxes.map(([, id]) => id)).toEqual(FOLDERS);
  expect(boxes.map(([, , title]) => title)).toEqual(FOLDERS);
});

/** Returns every change of state that the table in `call.ts` has, as an arrow. */
function arrowsOfTable(): string[] {
  const lines = readFileSync("src/shared/publishing/call.ts", "utf8").split("\n");
  const from = lines.findIndex((line) => /^ \* +-{4}/.test(line));
  const columns = [...(lines[from] ?? "").matchAll(/-+/g)].map(({ index }) => index);
  const rows = lines.slice(from + 1).slice(0, lines.slice(from + 1).indexOf(" *"));
  expect(rows.length).toBeGreaterThan(15);
  return rows.flatMap((row) => {
    const cell = (column: number) => row.slice(columns[column], columns[column + 1]).trim();
    const next = cell(2);
    return cell(0)
      .split(/, ?/)
      .filter((state) => next !== state && next !== "as before")
      .map((state) => `${state === "none" ? "[*]" : state} --> ${next}`);
  });
}

test("the drawing of a call's life has the changes of state that its table has", () => {
  const drawn = drawingOf("docs/dev/life-of-a-post.md").matchAll(/(\S+ --> \w+)/g);
  const arrows = [...drawn].map(([, arrow = ""]) => arrow);
  expect(arrows.sort()).toEqual([...new Set(arrowsOfTable())].sort());
});

test("the drawing of a platform's partition has every kind of row that its table has", () => {
  const page = readFileSync("docs/dev/storage.md", "utf8");
  const table = page.split("\n## Leases")[0] ?? "";
  const kinds = [...table.matchAll(/^\| `([^`]+)` +\|/gm)].map(([, kind = ""]) => kind);
  const groups = [...drawingOf("docs/dev/storage.md").matchAll(/\w+\["([^"]+<br>[^"]+)"\]/g)];
  const drawn = groups.flatMap(([, group = ""]) => group.split("<br>"));
  expect(drawn.sort()).toEqual(kinds.sort());
});
