import * as fc from "fast-check";
import { expect, test } from "vitest";
import { searchIndex } from "../../src/shared/runtime/search-index.ts";
import { DamagedRow } from "../../src/shared/runtime/storage/damaged-row.ts";

interface Entry {
  readonly id: number;
  readonly mayFit: boolean;
}

const damaged = () =>
  new DamagedRow({ kind: "item", rowKey: "", column: "column", reason: "is damaged" });

const aSearch = fc.record({
  entries: fc.array(
    fc.record({
      id: fc.nat(30),
      mayFit: fc.boolean(),
      isDamaged: fc.integer({ min: 0, max: 9 }).map((one) => one === 0),
    }),
    { maxLength: 120 },
  ),
  /** What becomes of the items by their ids. */
  items: fc.array(fc.constantFrom("fits", "fits", "fits", "doesn't", "damaged", "gone"), {
    minLength: 31,
    maxLength: 31,
  }),
  limit: fc.integer({ min: 1, max: 20 }),
  rows: fc.integer({ min: 1, max: 60 }),
  queriesMax: fc.integer({ min: 1, max: 3 }),
  readsMax: fc.integer({ min: 1, max: 40 }),
  isFiltered: fc.boolean(),
  isNamed: fc.boolean(),
});

test("the pages of a search have everything that fits, once and in order, within its bounds", async () => {
  await fc.assert(
    fc.asyncProperty(aSearch, async (drawn) => {
      const { entries, items, limit, rows, queriesMax, readsMax, isFiltered, isNamed } = drawn;
      const index = entries.map(({ isDamaged, ...entry }, place) => ({
        key: String(place).padStart(4, "0"),
        entry: isDamaged ? undefined : entry,
      }));
      const found: string[] = [];
      let at: string | undefined;
      for (let pages = 0; pages <= entries.length; pages += 1) {
        let [queries, reads] = [0, 0];
        const start: string | undefined = at;
        const page = await searchIndex<Entry, { readonly id: number }>({
          async list(from, size) {
            queries += 1;
            expect(size).toBe(rows);
            return index.filter(({ key }) => from === undefined || key >= from).slice(0, size);
          },
          mayFit: isFiltered ? ({ mayFit }) => mayFit : undefined,
          async read({ id }) {
            reads += 1;
            if (items[id] === "damaged") throw damaged();
            return items[id] === "gone" ? undefined : { id };
          },
          ...(isNamed ? { idOf: ({ id }: Entry) => String(id) } : {}),
          fits: ({ id }) => items[id] === "fits",
          at: start,
          limit,
          rows,
          queriesMax,
          readsMax,
        });
        expect(queries).toBeLessThanOrEqual(queriesMax);
        expect(reads).toBeLessThanOrEqual(readsMax);
        expect(page.items.length).toBeLessThanOrEqual(limit);
        found.push(...page.items.map(({ id }) => String(id)));
        if (page.next === undefined) break;
        // Each page goes on, so the search ends.
        expect(start === undefined || page.next > start).toBe(true);
        at = page.next;
      }
      const wanted = index.flatMap(({ entry }) =>
        entry !== undefined && (!isFiltered || entry.mayFit) && items[entry.id] === "fits"
          ? [String(entry.id)]
          : [],
      );
      expect(found).toEqual(wanted);
    }),
    { numRuns: 500 },
  );
});

test("a page that is full and has nothing after it that could fit is the last one", async () => {
  let reads = 0;
  const index = ["a", "b", "c", "a again"].map((key) => ({ key, entry: key.slice(0, 1) }));
  const page = await searchIndex<string, string>({
    list: () => Promise.resolve(index),
    read(entry) {
      reads += 1;
      return Promise.resolve(entry);
    },
    idOf: (entry) => entry,
    fits: (_, key) => key.length === 1,
    at: undefined,
    limit: 3,
    rows: 10,
    queriesMax: 1,
    readsMax: 3,
  });
  expect([page, reads]).toEqual([{ items: ["a", "b", "c"], next: undefined }, 3]);
});
