import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createOverlay } from "../../src/shared/partition/batch.ts";
import type { RowWrite, StoredRow } from "../../src/shared/runtime/storage/row.ts";
import { CALM, MemoryPartition } from "./memory-partition.ts";

const row = (rowKey: string, properties: Record<string, string | number> = {}) => {
  return { rowKey, ...properties };
};
const stored = (rowKey: string, properties: Record<string, string | number>): StoredRow => {
  return { row: row(rowKey, properties), etag: `etag of ${rowKey}` };
};

describe("two writes of one row in a transaction become one", () => {
  const etag = "v1";
  const create: RowWrite = { kind: "create", row: row("A", { x: 1, y: 1 }) };
  const replace: RowWrite = { kind: "replace", row: row("A", { x: 2 }), etag };
  const merge: RowWrite = { kind: "merge", row: row("A", { x: 3 }), etag };
  const remove: RowWrite = { kind: "delete", rowKey: "A" };

  test.each<[string, RowWrite, RowWrite, readonly RowWrite[]]>([
    [
      "created, replaced",
      create,
      { ...replace, etag: "" },
      [{ kind: "create", row: row("A", { x: 2 }) }],
    ],
    [
      "created, merged",
      create,
      { ...merge, etag: "" },
      [{ kind: "create", row: row("A", { x: 3, y: 1 }) }],
    ],
    ["created, deleted", create, remove, []],
    [
      "replaced, replaced",
      replace,
      { ...replace, row: row("A", { z: 9 }) },
      [{ kind: "replace", row: row("A", { z: 9 }), etag }],
    ],
    [
      "replaced, merged",
      replace,
      { ...merge, row: row("A", { z: 9 }) },
      [{ kind: "replace", row: row("A", { x: 2, z: 9 }), etag }],
    ],
    ["replaced, deleted", replace, remove, [remove]],
    [
      "merged, merged",
      merge,
      { ...merge, row: row("A", { z: 9 }) },
      [{ kind: "merge", row: row("A", { x: 3, z: 9 }), etag }],
    ],
    ["merged, replaced", merge, replace, [{ kind: "replace", row: row("A", { x: 2 }), etag }]],
    ["merged, deleted", merge, remove, [remove]],
    ["deleted, created", remove, create, [{ kind: "replace", row: create.row, etag: "*" }]],
  ])("two writes of one row in a transaction become one: %s", (_, first, second, wanted) => {
    const overlay = createOverlay();
    overlay.add([first]);
    overlay.add([second]);
    expect(overlay.writes()).toEqual(wanted);
  });

  test.each<[string, RowWrite, RowWrite]>([
    ["is created twice", create, create],
    ["is created though it is there", replace, create],
    ["is merged after it was deleted", remove, merge],
    ["is replaced after it was deleted", remove, replace],
    ["is deleted twice", remove, remove],
  ])("a row that %s in a transaction is a defect", (_, first, second) => {
    const overlay = createOverlay();
    overlay.add([first]);
    expect(() => overlay.add([second])).toThrow("invariant broken");
  });
});

describe("a row as the next operation sees it", () => {
  const before = stored("A", { x: 1, y: 1 });

  test.each<[string, readonly RowWrite[], StoredRow | undefined, StoredRow | undefined]>([
    ["untouched", [], before, before],
    ["absent", [], undefined, undefined],
    [
      "created",
      [{ kind: "create", row: row("A", { x: 5 }) }],
      undefined,
      { row: row("A", { x: 5 }), etag: "" },
    ],
    [
      "replaced",
      [{ kind: "replace", row: row("A", { x: 5 }), etag: before.etag }],
      before,
      { row: row("A", { x: 5 }), etag: before.etag },
    ],
    [
      "merged",
      [{ kind: "merge", row: row("A", { x: 5 }), etag: before.etag }],
      before,
      { row: row("A", { x: 5, y: 1 }), etag: before.etag },
    ],
    ["deleted", [{ kind: "delete", rowKey: "A" }], before, undefined],
  ])("a row as the next operation sees it: %s", (_, writes, read, seen) => {
    const overlay = createOverlay();
    overlay.add(writes);
    expect(overlay.see("A", read)).toEqual(seen);
  });
});

/** What an operation does to the row it sees: a create where there is none, else one of the others. */
interface Step {
  readonly key: string;
  readonly kind: "replace" | "merge" | "delete";
  readonly property: string;
  readonly value: number;
}
const step: fc.Arbitrary<Step> = fc.record({
  key: fc.constantFrom("A", "B", "C"),
  kind: fc.constantFrom("replace", "merge", "delete"),
  property: fc.constantFrom("x", "y", "z"),
  value: fc.nat({ max: 9 }),
});

function writeOf({ key, kind, property, value }: Step, seen: StoredRow | undefined): RowWrite {
  const changed = row(key, { [property]: value });
  if (seen === undefined) return { kind: "create", row: changed };
  return kind === "delete" ? { kind, rowKey: key } : { kind, row: changed, etag: seen.etag };
}

function partition() {
  const memory = new MemoryPartition();
  return { memory, view: memory.seenBy(CALM, () => new Date()) };
}

describe("any operations in one transaction", () => {
  test("see and leave what they would have one after the other, each row written once", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(step, { maxLength: 12 }),
        fc.array(step, { maxLength: 3 }),
        async (steps, initial) => {
          const together = partition();
          const apart = partition();
          const read = new Map<string, StoredRow | undefined>();
          for (const { key, property, value } of initial) {
            if (together.memory.rows.has(key)) continue;
            const write = { kind: "create", row: row(key, { [property]: value }) } as const;
            for (const { view } of [together, apart]) await view.transact([write]);
          }
          for (const key of ["A", "B", "C"]) read.set(key, together.memory.rows.get(key));
          const overlay = createOverlay();
          for (const one of steps) {
            const seen = overlay.see(one.key, read.get(one.key));
            const alone = apart.memory.rows.get(one.key);
            expect(seen?.row).toEqual(alone?.row);
            overlay.add([writeOf(one, seen)]);
            expect(await apart.view.transact([writeOf(one, alone)])).toHaveProperty(
              "kind",
              "applied",
            );
          }
          expect(overlay.size).toBe(overlay.writes().length);
          // The model refuses a transaction that names a row twice.
          expect(await together.view.transact(overlay.writes())).toHaveProperty("kind", "applied");
          const rowsOf = ({ memory }: ReturnType<typeof partition>) =>
            [...memory.rows.values()]
              .map((one) => one.row)
              .sort((left, right) => (left.rowKey < right.rowKey ? -1 : 1));
          expect(rowsOf(together)).toEqual(rowsOf(apart));
        },
      ),
      { numRuns: 60 },
    );
  });

  test("any operations in one transaction are refused together when another process changed a row in between", async () => {
    const { memory, view } = partition();
    await view.transact([{ kind: "create", row: row("A", { x: 1 }) }]);
    const overlay = createOverlay();
    overlay.add([
      writeOf({ key: "A", kind: "merge", property: "x", value: 2 }, memory.rows.get("A")),
    ]);
    overlay.add([{ kind: "create", row: row("B") }]);
    await view.transact([{ kind: "replace", row: row("A", { x: 7 }), etag: "*" }]);
    expect(await view.transact(overlay.writes())).toMatchObject({ kind: "refused" });
    expect(memory.rows.has("B")).toBe(false);
  });
});
