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

/** Returns the states that a cell of the table in `leg.ts` names, in the words of the drawing. */
const statesIn = (cell: string) =>
  cell === "none"
    ? ["[*]"]
    : ["pending", "waiting", "claimed", "sent", "succeeded", "failed", "skipped"].filter((state) =>
        cell.includes(state),
      );

/** Returns every change of state that the table in `leg.ts` has, as an arrow. */
function arrowsOfTable(): string[] {
  const lines = readFileSync("src/shared/publishing/leg.ts", "utf8").split("\n");
  const from = lines.findIndex((line) => /^ \* +-{4}/.test(line));
  const columns = [...(lines[from] ?? "").matchAll(/-+/g)].map(({ index }) => index);
  const rows = lines.slice(from + 1).slice(0, lines.slice(from + 1).indexOf(" *"));
  expect(rows.length).toBeGreaterThan(20);
  return rows.flatMap((row) => {
    const cell = (column: number) => row.slice(columns[column], columns[column + 1]).trim();
    const [before, next] = [statesIn(cell(0)), statesIn(cell(2))];
    return before.flatMap((state) => {
      // A leg in `sent` stays in it until it is known what became of its call.
      const after = state === "sent" && next.some((one) => one !== "pending") ? ["sent"] : next;
      const ended = next.filter((one) => ["succeeded", "failed"].includes(one));
      return (ended.length > 0 ? ended : after.slice(0, 1)).map((one) => `${state} --> ${one}`);
    });
  });
}

test("the drawing of a leg's life has the changes of state that its table has", () => {
  const isChange = (arrow: string) => new Set(arrow.split(" --> ")).size === 2;
  const table = new Set(arrowsOfTable().filter(isChange));
  const drawn = drawingOf("docs/dev/life-of-a-post.md").matchAll(/(\S+ --> \w+)/g);
  expect([...drawn].map(([, arrow = ""]) => arrow).sort()).toEqual([...table].sort());
});

test("the drawing of a platform's partition has every kind of row that its table has", () => {
  const page = readFileSync("docs/dev/storage.md", "utf8");
  const table = page.split("\n## Leases")[0] ?? "";
  const kinds = [...table.matchAll(/^\| `([^`]+)` +\|/gm)].map(([, kind = ""]) => kind);
  const groups = [...drawingOf("docs/dev/storage.md").matchAll(/\w+\["([^"]+<br>[^"]+)"\]/g)];
  const drawn = groups.flatMap(([, group = ""]) => group.split("<br>"));
  expect(drawn.sort()).toEqual(kinds.sort());
});
