import { beforeAll, describe, expect, test } from "vitest";
import type { Selection } from "../../../src/shared/runtime/storage/selection.ts";
import type { Table } from "../../../src/shared/runtime/storage/table.ts";

/** Places of all rows that are selected, page by page until there is no next one. */
async function selected(table: Table, selection: Selection): Promise<string[]> {
  const places: string[] = [];
  let after: string | undefined;
  do {
    const { rows, next } = await table.select(selection, after);
    places.push(...rows.map(({ partitionKey, row }) => `${partitionKey}/${row.rowKey}`));
    after = next;
  } while (after !== undefined);
  return places;
}

const AT = { property: "at", time: "2026-03-02T00:00:00.000Z" };

/** What the product relies on where it reads across partitions. */
export function describeSelections(fresh: () => readonly [Table, Table]): void {
  describe("a selection", () => {
    let table: Table;
    beforeAll(async () => {
      [table] = fresh();
      for (const [day, partitionKey] of ["a", "b", "o'c"].entries())
        for (const rowKey of ["1", "2", "3"]) {
          const at = `2026-03-0${day + 1}T00:00:00.000Z`;
          await table.put(partitionKey, { rowKey, at, kind: `kind ${rowKey}`, said: "x or 'y'" });
        }
      await table.put("b", { rowKey: "4", other: "" });
    });

    test("of some columns has these alone, where rows have them", async () => {
      const range = { partitionKey: "b", from: "3", before: "9", limit: 5 };
      const rows = await table.list({ ...range, columns: ["kind", "other"] });
      expect(rows.map(({ row }) => row)).toEqual([
        { rowKey: "3", kind: "kind 3" },
        { rowKey: "4", other: "" },
      ]);
    });

    test.each<readonly [string, Selection, readonly string[]]>([
      [
        "nothing: the whole table",
        {},
        ["a/1", "a/2", "a/3", "b/1", "b/2", "b/3", "b/4", "o'c/1", "o'c/2", "o'c/3"],
      ],
      ["a partition", { partitionKey: "o'c" }, ["o'c/1", "o'c/2", "o'c/3"]],
      ["a range of partitions", { partitions: { from: "a", before: "b" } }, ["a/1", "a/2", "a/3"]],
      ["a range of rows", { from: "2", before: "3" }, ["a/2", "b/2", "o'c/2"]],
      [
        "one of several values",
        { property: "kind", values: ["kind 1", "kind 3", "none"] },
        ["a/1", "a/3", "b/1", "b/3", "o'c/1", "o'c/3"],
      ],
      [
        "a value with words of a filter in it",
        { partitionKey: "a", property: "said", values: ["x or 'y'"] },
        ["a/1", "a/2", "a/3"],
      ],
      ["an age, which a row without a time has not", { olderThan: AT }, ["a/1", "a/2", "a/3"]],
      [
        "all of it at once",
        {
          partitions: { from: "a" },
          from: "1",
          before: "3",
          property: "kind",
          values: ["kind 2"],
          olderThan: AT,
        },
        ["a/2"],
      ],
    ])("a selection by %s gives the rows that fit", async (_by, selection, places) => {
      expect(await selected(table, selection)).toEqual(places);
      expect(await selected(table, { ...selection, pageRows: 2 })).toEqual(places);
    });
  });
}
