import { describe, expect, test } from "vitest";
import { AppError } from "../../../src/shared/runtime/errors.ts";
import { foldedName, foldedNameKey } from "../../../src/shared/runtime/folded-name.ts";
import type { Row, RowChange } from "../../../src/shared/runtime/storage/row.ts";
import { afterPrefix, type Table } from "../../../src/shared/runtime/storage/table.ts";
import type { Fault } from "../../setup/fault-proxy.ts";
import { describeSelections } from "./selection-contract.ts";

/** A storage that the contract is checked on. */
export interface ContractStorage {
  /** Answers every call, and right. */
  readonly table: () => Table;
  /** The same table, whose calls meet the fault during `during`. */
  readonly faulty: () => Table;
  readonly during: <T>(fault: Fault, call: () => Promise<T>) => Promise<T>;
  /** The same, when its next call alone meets the fault. */
  readonly once: <T>(fault: Fault, call: () => Promise<T>) => Promise<T>;
  /** A table that was never written, as two processes reach it. */
  readonly fresh: () => readonly [Table, Table];
}

let count = 0;
/** A partition that no other test touches. */
const partition = () => `p${(count += 1)}`;
const unavailable = expect.objectContaining({ code: "service_unavailable" });

/** What the product relies on of a table, whatever storage lies below. */
export function describeTable(name: string, storage: ContractStorage): void {
  describe(name, () => {
    describeRows(storage);
    describeChanges(storage);
    describeLists(storage);
    describeSelections(storage.fresh);
    describeTransactions(storage);
    describeManyRows(storage);
    describeLimits(storage);
    describeLostAnswers(storage);
    describeRepeats(storage);
  });
}

function describeRows({ table, fresh }: ContractStorage): void {
  describe("a row", () => {
    test("a row is inserted once; a second insert loses instead of throwing", async () => {
      const p = partition();
      expect(await table().insertIfAbsent(p, { rowKey: "a", n: 1 })).toEqual(expect.any(String));
      expect(await table().insertIfAbsent(p, { rowKey: "a", n: 2 })).toBeUndefined();
      expect((await table().find(p, "a"))?.row).toEqual({ rowKey: "a", n: 1 });
      expect(await table().find(p, "b")).toBeUndefined();
    });

    test("a row is replaced or merged only under its version", async () => {
      const p = partition();
      const first = (await table().insertIfAbsent(p, { rowKey: "a", n: 1, kept: "x" })) ?? "";
      const second = (await table().mergeIfUnchanged(p, { rowKey: "a", n: 2 }, first)) ?? "";
      expect((await table().find(p, "a"))?.row).toEqual({ rowKey: "a", n: 2, kept: "x" });
      expect((await table().find(p, "a"))?.etag).toBe(second);
      expect(await table().replaceIfUnchanged(p, { rowKey: "a", n: 3 }, first)).toBeUndefined();
      expect(await table().replaceIfUnchanged(p, { rowKey: "a", n: 3 }, second)).toBeDefined();
      expect((await table().find(p, "a"))?.row).toEqual({ rowKey: "a", n: 3 });
      expect(await table().replaceIfUnchanged(p, { rowKey: "none" }, second)).toBeUndefined();
    });

    test("a row is written whatever was there: replaced whole, or only what is named", async () => {
      const p = partition();
      await table().put(p, { rowKey: "a", n: 1, kept: "x" });
      await table().putProperties(p, { rowKey: "a", n: 2 });
      expect((await table().find(p, "a"))?.row).toEqual({ rowKey: "a", n: 2, kept: "x" });
      await table().put(p, { rowKey: "a", n: 3 });
      expect((await table().find(p, "a"))?.row).toEqual({ rowKey: "a", n: 3 });
      await table().putProperties(p, { rowKey: "b", n: 4 });
      expect((await table().find(p, "b"))?.row).toEqual({ rowKey: "b", n: 4 });
    });

    test("changed by many at once loses no change", async () => {
      const p = partition();
      await table().put(p, { rowKey: "a", n: 0 });
      const raise = () => table().update(p, "a", ({ n }) => ({ n: Number(n) + 1 }));
      await Promise.all(Array.from({ length: 4 }, raise));
      expect((await table().find(p, "a"))?.row).toEqual({ rowKey: "a", n: 4 });
      expect(await table().update(p, "none", () => ({ n: 1 }))).toBeUndefined();
    });

    test("keeps text, whole numbers and truth as they were, up to the longest text", async () => {
      const p = partition();
      const text = "é👩‍👩‍👧".repeat(2_000);
      const row = { rowKey: "a", text, empty: "", n: -2_147_483_648, yes: true };
      await table().put(p, row);
      expect((await table().find(p, "a"))?.row).toEqual(row);
    });

    test("a row is deleted once, and under a version only when it has that", async () => {
      const p = partition();
      const old = (await table().insertIfAbsent(p, { rowKey: "a" })) ?? "";
      await table().put(p, { rowKey: "a" });
      expect(await table().delete(p, "a", old)).toBe(false);
      expect(await table().delete(p, "a")).toBe(true);
      expect(await table().delete(p, "a")).toBe(false);
    });
  });

  test("a table that is missing is made by the first write, also by two at once", async () => {
    const [one, two] = fresh();
    await Promise.all([one.put("p", { rowKey: "a" }), two.put("p", { rowKey: "b" })]);
    expect(await one.list({ partitionKey: "p", limit: 10 })).toHaveLength(2);
  });

  test("a table that is missing is made by a transaction too", async () => {
    const [one, two] = fresh();
    const result = await one.transact("p", [{ kind: "create", row: { rowKey: "a" } }]);
    expect(result.kind).toBe("applied");
    expect(await two.find("p", "a")).toBeDefined();
  });
}

function describeChanges({ table, faulty, during }: ContractStorage): void {
  const stored = async (p: string) => (await table().find(p, "a"))?.row;
  const raised = (row: Row | undefined) => Number(row?.["n"] ?? 0) + 1;

  describe("a change", () => {
    test("creates, replaces, merges, removes or leaves, and answers the row as it is then", async () => {
      const p = partition();
      const become = (change: RowChange) => table().change(p, "a", () => change);
      expect(await become({ kind: "leave" })).toEqual({ kind: "left", row: undefined });
      expect(await become({ kind: "remove" })).toEqual({ kind: "left", row: undefined });
      expect(await become({ kind: "merge", columns: { n: 1 } })).toEqual({
        kind: "left",
        row: undefined,
      });
      const first = { rowKey: "a", n: 1, old: true };
      expect(await become({ kind: "write", columns: { n: 1, old: true } })).toEqual({
        kind: "created",
        row: first,
      });
      expect(await become({ kind: "leave" })).toEqual({ kind: "left", row: first });
      expect(await become({ kind: "merge", columns: { n: 2 } })).toEqual({
        kind: "merged",
        row: { ...first, n: 2 },
      });
      expect(await stored(p)).toEqual({ ...first, n: 2 });
      expect(await become({ kind: "write", columns: { n: 3 } })).toEqual({
        kind: "replaced",
        row: { rowKey: "a", n: 3 },
      });
      expect(await stored(p)).toEqual({ rowKey: "a", n: 3 });
      expect(await become({ kind: "remove" })).toEqual({ kind: "removed", row: undefined });
      expect(await stored(p)).toBeUndefined();
    });

    test.each(["write", "merge"] as const)(
      "decides again after each lost race: %s",
      async (kind) => {
        const p = partition();
        await table().put(p, { rowKey: "a", n: 1 });
        let rivals = 3;
        const changed = await table().change(p, "a", async (before) => {
          if ((rivals -= 1) >= 0) await table().put(p, { rowKey: "a", n: raised(before?.row) });
          return { kind, columns: { n: raised(before?.row) } };
        });
        expect(changed.row).toEqual({ rowKey: "a", n: 5 });
        expect(await stored(p)).toEqual({ rowKey: "a", n: 5 });
      },
    );

    test("a change of a row that is gone meanwhile is decided on its absence", async () => {
      const p = partition();
      const changed = async (kind: "write" | "merge" | "remove") => {
        await table().put(p, { rowKey: "a", n: 1 });
        return await table().change(p, "a", async (before) => {
          if (before !== undefined) await table().delete(p, "a");
          return { kind, columns: { n: raised(before?.row) } };
        });
      };
      expect(await changed("merge")).toEqual({ kind: "left", row: undefined });
      expect(await stored(p)).toBeUndefined();
      expect(await changed("remove")).toEqual({ kind: "left", row: undefined });
      expect(await changed("write")).toEqual({ kind: "created", row: { rowKey: "a", n: 1 } });
    });

    test("a change of a row that is created meanwhile is decided on what it holds", async () => {
      const p = partition();
      const changed = await table().change(p, "a", async (before) => {
        if (before === undefined) await table().put(p, { rowKey: "a", n: 1 });
        return { kind: "write", columns: { n: raised(before?.row) } };
      });
      expect(changed).toEqual({ kind: "replaced", row: { rowKey: "a", n: 2 } });
    });

    test("a change does not remove what was written meanwhile", async () => {
      const p = partition();
      await table().put(p, { rowKey: "a", n: 1 });
      const changed = await table().change(p, "a", async (before) => {
        if (before?.row["n"] !== 1) return { kind: "leave" };
        await table().put(p, { rowKey: "a", n: 2 });
        return { kind: "remove" };
      });
      expect(changed).toEqual({ kind: "left", row: { rowKey: "a", n: 2 } });
    });

    test.each([
      ["lose_request", undefined],
      ["lose_answer", { rowKey: "a", n: 1 }],
    ] as const)(
      "a change in doubt is unavailable, and not tried again: %s",
      async (fault, left) => {
        const p = partition();
        const { promise: ended, resolve: end } = Promise.withResolvers<void>();
        let decisions = 0;
        let failing: Promise<void> | undefined;
        const change = faulty().change(p, "a", () => {
          decisions += 1;
          // From here on, so that the write meets it and the read did not.
          failing = during(fault, () => ended);
          return { kind: "write", columns: { n: 1 } };
        });
        await expect(change).rejects.toEqual(unavailable);
        end();
        await failing;
        expect(decisions).toBe(1);
        expect(await stored(p)).toEqual(left);
      },
    );

    test("gives up as unavailable after 20 lost races", async () => {
      const p = partition();
      await table().put(p, { rowKey: "a", n: 0 });
      let decisions = 0;
      const change = table().change(p, "a", async () => {
        decisions += 1;
        await table().put(p, { rowKey: "a", n: decisions });
        return { kind: "merge", columns: { n: -1 } };
      });
      await expect(change).rejects.toEqual(unavailable);
      expect(decisions).toBe(20);
      expect(await stored(p)).toEqual({ rowKey: "a", n: 20 });
    });
  });
}

function describeLists({ table, fresh }: ContractStorage): void {
  describe("a list", () => {
    test("holds a range in key order, across the service's own pages", async () => {
      const p = partition();
      for (let start = 0; start < 1_100; start += 100)
        await table().transact(
          p,
          Array.from({ length: 100 }, (_, index) => {
            const rowKey = `k${String(start + index).padStart(5, "0")}`;
            return { kind: "create", row: { rowKey, n: start + index } } as const;
          }),
        );
      const all = await table().list({ partitionKey: p, limit: 5_000 });
      expect(all.map(({ row }) => row["n"])).toEqual(Array.from({ length: 1_100 }, (_, n) => n));
      const range = { partitionKey: p, from: "k00010", before: "k00020", limit: 5 };
      const some = await table().list(range);
      expect(some.map(({ row }) => row["n"])).toEqual([10, 11, 12, 13, 14]);
      const none = await table().list({ partitionKey: p, from: afterPrefix("k"), limit: 5 });
      expect(none).toEqual([]);
    });

    test("sorts keys by their characters' codes and keeps partitions apart", async () => {
      const p = partition();
      const keys = ["-", "1", "A", "B", "Z", "_", "a", "it's", "z", "|", "~", "é"];
      for (const rowKey of keys.toReversed()) await table().put(p, { rowKey });
      await table().put(`${p}x`, { rowKey: "other" });
      const rows = await table().list({ partitionKey: p, limit: 100 });
      expect(rows.map(({ row }) => row.rowKey)).toEqual(keys);
      const from = await table().list({ partitionKey: p, from: "it's", before: "|", limit: 100 });
      expect(from.map(({ row }) => row.rowKey)).toEqual(["it's", "z"]);
    });

    test("a list of a table that was never written is empty", async () => {
      const [absent] = fresh();
      expect(await absent.list({ partitionKey: "p", limit: 1 })).toEqual([]);
      expect(await absent.find("p", "r")).toBeUndefined();
    });
  });
}

function describeTransactions({ table }: ContractStorage): void {
  describe("a transaction", () => {
    test("applies all of its writes and tells the new versions", async () => {
      const p = partition();
      const etag = (await table().insertIfAbsent(p, { rowKey: "a", n: 1, kept: true })) ?? "";
      await table().put(p, { rowKey: "gone" });
      const result = await table().transact(p, [
        { kind: "merge", row: { rowKey: "a", n: 2 }, etag },
        { kind: "create", row: { rowKey: "b|1", n: 1 } },
        { kind: "delete", rowKey: "gone" },
      ]);
      expect(result.kind).toBe("applied");
      const etags = result.kind === "applied" ? result.etags : new Map<string, string>();
      expect((await table().find(p, "a"))?.row).toEqual({ rowKey: "a", n: 2, kept: true });
      expect(await table().find(p, "gone")).toBeUndefined();
      for (const rowKey of ["a", "b|1"])
        expect(
          await table().replaceIfUnchanged(p, { rowKey, n: 9 }, etags.get(rowKey) ?? ""),
        ).toBeDefined();
    });

    test("keys with names in any script are written, found by their beginnings in order, and removed", async () => {
      const p = partition();
      const names = [
        "50 % & more",
        "Café Zoë",
        "Cafe's #1?/\\",
        "cafeteria",
        "ΟΔΟΣ",
        "東京ベーカリー",
        "🥐 Brot",
      ];
      const folded = [...names, "🥐".repeat(64), "漢".repeat(64), "?".repeat(64)].map(foldedName);
      const keyOf = (name: string) => `FT|app_1|${foldedNameKey(name, "prf_1")}`;
      const keys = folded.map(keyOf);
      const made = await table().transact(
        p,
        keys.map((rowKey) => ({ kind: "create", row: { rowKey } }) as const),
      );
      expect(made.kind).toBe("applied");
      const listed = async (beginning: string) => {
        const prefix = `FT|app_1|${foldedName(beginning)}`;
        const range = { partitionKey: p, from: prefix, before: afterPrefix(prefix), limit: 100 };
        return (await table().list(range)).map(({ row }) => row.rowKey);
      };
      expect(await listed("")).toEqual(keys.toSorted());
      const cafes = ["Café Zoë", "Cafe's #1?/\\", "cafeteria"].map((name) =>
        keyOf(foldedName(name)),
      );
      expect(await listed("CAFÉ")).toEqual(cafes);
      for (const name of names) {
        const key = keyOf(foldedName(name));
        expect(await listed(name.slice(0, 4)), name).toContain(key);
        expect((await table().find(p, key))?.row, name).toEqual({ rowKey: key });
      }
      const gone = await table().transact(
        p,
        keys.map((rowKey) => ({ kind: "delete", rowKey }) as const),
      );
      expect(gone.kind).toBe("applied");
      expect(await listed("")).toEqual([]);
    });

    test("a transaction that is refused names the write whose condition did not hold", async () => {
      const p = partition();
      await table().put(p, { rowKey: "there" });
      const fine = { kind: "create", row: { rowKey: "fine" } } as const;
      const create = { kind: "create", row: { rowKey: "there" } } as const;
      const row = { rowKey: "there" };
      const changed = { kind: "replace", row, etag: `W/"datetime'2020'"` } as const;
      const absent = { kind: "delete", rowKey: "absent" } as const;
      for (const write of [create, changed, absent])
        expect(await table().transact(p, [fine, write])).toEqual({ kind: "refused", at: 1 });
    });

    test("a transaction that no storage takes names the write at fault", async () => {
      const p = partition();
      const fine = { kind: "create", row: { rowKey: "fine" } } as const;
      const row = { rowKey: "large", text: "é".repeat(32_769) };
      const sent = table().transact(p, [fine, { kind: "create", row }]);
      await expect(sent).rejects.toMatchObject({ name: "InvalidTransaction", at: 1 });
      expect(await table().find(p, "fine")).toBeUndefined();
    });

    test("replaces a row of any version when it is told so", async () => {
      const p = partition();
      await table().put(p, { rowKey: "a", n: 1, gone: true });
      const row = { rowKey: "a", n: 2 };
      const result = await table().transact(p, [{ kind: "replace", row, etag: "*" }]);
      expect(result.kind).toBe("applied");
      expect((await table().find(p, "a"))?.row).toEqual(row);
    });

    test("writes a row of any version, or none, when it is told to put it", async () => {
      const p = partition();
      await table().put(p, { rowKey: "a", n: 1, gone: true });
      const rows = ["a", "b"].map((rowKey) => ({ rowKey, n: 2 }));
      const puts = rows.map((row) => ({ kind: "put", row }) as const);
      expect((await table().transact(p, puts)).kind).toBe("applied");
      const stored = await table().list({ partitionKey: p, limit: 9 });
      expect(stored.map(({ row }) => row)).toEqual(rows);
    });

    test.each([
      ["a row exists", [{ kind: "create", row: { rowKey: "a", n: 9 } }]],
      ["a version is old", [{ kind: "replace", row: { rowKey: "a", n: 9 }, etag: 'W/"old"' }]],
      ["a row to change is gone", [{ kind: "merge", row: { rowKey: "none" }, etag: "*" }]],
      ["a row to delete is gone", [{ kind: "delete", rowKey: "none" }]],
    ] as const)("applies nothing when %s", async (_, refused) => {
      const p = partition();
      await table().put(p, { rowKey: "a", n: 1 });
      const result = await table().transact(p, [
        { kind: "create", row: { rowKey: "new" } },
        ...refused,
      ]);
      expect(result).toMatchObject({ kind: "refused" });
      expect(await table().find(p, "new")).toBeUndefined();
      expect((await table().find(p, "a"))?.row["n"]).toBe(1);
    });
  });
}

function describeManyRows({ table }: ContractStorage): void {
  const rowsOf = (count: number, n: number) =>
    Array.from({ length: count }, (_, index) => ({
      rowKey: `r${String(index).padStart(3, "0")}`,
      n,
    }));
  const stored = async (p: string) => {
    const rows = await table().list({ partitionKey: p, limit: 1_000 });
    return rows.map(({ row }) => row);
  };

  describe.each([1, 3, 100, 205])("%i rows together", (count) => {
    test("rows are written together whatever was there", async () => {
      const p = partition();
      await table().put(p, { rowKey: "r000", gone: true });
      await table().putAll(p, rowsOf(count, 1));
      expect(await stored(p)).toEqual(rowsOf(count, 1));
    });

    test("rows are inserted together where they are absent, and those alone are told", async () => {
      const p = partition();
      const [first, ...others] = rowsOf(count, 2);
      await table().put(p, { rowKey: "r000", n: 1 });
      const inserted = await table().insertAllIfAbsent(p, rowsOf(count, 2));
      expect([...inserted].toSorted()).toEqual(others.map(({ rowKey }) => rowKey));
      expect(await stored(p)).toEqual([{ ...first, n: 1 }, ...others]);
      expect(await table().insertAllIfAbsent(p, rowsOf(count, 3))).toEqual(new Set());
    });

    test("rows are removed together where they are there", async () => {
      const p = partition();
      const rows = rowsOf(count, 1);
      const keys = rows.map(({ rowKey }) => rowKey);
      await table().putAll(p, [...rows.slice(0, -1), { rowKey: "stays" }]);
      await table().deleteAll(p, keys);
      expect(await stored(p)).toEqual([{ rowKey: "stays" }]);
      await table().deleteAll(p, keys);
    });
  });
}

function describeLimits({ table }: ContractStorage): void {
  const create = (rowKey: string) => ({ kind: "create", row: { rowKey } }) as const;

  describe("what no storage takes is a defect and says so", () => {
    test("a transaction of more than a hundred rows, which applies nothing", async () => {
      const p = partition();
      const writes = Array.from({ length: 101 }, (_, n) => create(`r${n}`));
      await expect(table().transact(p, writes)).rejects.toThrow();
      expect(await table().list({ partitionKey: p, limit: 1 })).toEqual([]);
    });

    test("a row twice in a transaction, which applies nothing", async () => {
      const p = partition();
      await expect(table().transact(p, [create("a"), create("a")])).rejects.toThrow();
      expect(await table().list({ partitionKey: p, limit: 1 })).toEqual([]);
    });

    test("a key of more than 512 characters, of which 512 are taken", async () => {
      const p = partition();
      expect(await table().insertIfAbsent(p, { rowKey: "k".repeat(512) })).toBeDefined();
      await expect(table().insertIfAbsent(p, { rowKey: "k".repeat(513) })).rejects.toThrow();
    });

    test("a text of more than 64 KiB, of which 64 KiB are taken", async () => {
      const p = partition();
      expect(
        await table().insertIfAbsent(p, { rowKey: "a", text: "x".repeat(32_768) }),
      ).toBeDefined();
      const tooLong = { rowKey: "b", text: "x".repeat(32_769) };
      await expect(table().insertIfAbsent(p, tooLong)).rejects.toThrow();
    });
  });
}

function describeLostAnswers({ table, faulty, during }: ContractStorage): void {
  describe("an answer that did not come or is wrong", () => {
    test.each(["lose_request", "lose_answer", "unavailable"] as const)(
      "%s: a single write is unavailable, a transaction is in doubt",
      async (kind) => {
        const p = partition();
        const write = () => faulty().insertIfAbsent(p, { rowKey: "a" });
        await expect(during(kind, write)).rejects.toEqual(unavailable);
        const result = during(kind, () =>
          faulty().transact(p, [{ kind: "create", row: { rowKey: "b" } }]),
        );
        expect(await result).toMatchObject({ kind: "in_doubt" });
      },
    );

    test("a write whose answer was lost is there, and repeating it loses", async () => {
      const p = partition();
      const write = () => faulty().insertIfAbsent(p, { rowKey: "a" });
      await expect(during("lose_answer", write)).rejects.toBeInstanceOf(AppError);
      expect(await table().insertIfAbsent(p, { rowKey: "a" })).toBeUndefined();
    });

    test("a write whose request was lost is not there", async () => {
      const p = partition();
      const write = () => faulty().insertIfAbsent(p, { rowKey: "a" });
      await expect(during("lose_request", write)).rejects.toBeInstanceOf(AppError);
      expect(await table().find(p, "a")).toBeUndefined();
    });

    test("a write that lands late is in doubt first and there afterwards", async () => {
      const p = partition();
      const result = await during("late", () =>
        faulty().transact(p, [{ kind: "create", row: { rowKey: "a" } }]),
      );
      expect(result).toMatchObject({ kind: "in_doubt" });
      await expect.poll(() => table().find(p, "a"), { timeout: 5_000 }).toBeDefined();
    });

    test("a false conflict of a transaction counts as refused although it was applied", async () => {
      const p = partition();
      const result = await during("false_412", () =>
        faulty().transact(p, [{ kind: "create", row: { rowKey: "a" } }]),
      );
      expect(result).toMatchObject({ kind: "refused" });
      expect(await table().find(p, "a")).toBeDefined();
    });

    test("a conflict where none can be leaves the outcome open", async () => {
      const p = partition();
      const write = () => during("false_412", () => faulty().put(p, { rowKey: "a" }));
      await expect(write()).rejects.toEqual(unavailable);
    });

    test("reads that are not answered give up as unavailable", async () => {
      const p = partition();
      await table().put(p, { rowKey: "a" });
      await expect(during("unavailable", () => faulty().find(p, "a"))).rejects.toEqual(unavailable);
      const list = () => faulty().list({ partitionKey: p, limit: 1 });
      await expect(during("unavailable", list)).rejects.toEqual(unavailable);
    });
  });
}

/** Writes that ask nothing of what is there are repeated, and no others. */
function describeRepeats({ table, faulty, once }: ContractStorage): void {
  const rows = ["a", "b", "c"].map((rowKey) => ({ rowKey, n: 1 }));
  const keys = rows.map(({ rowKey }) => rowKey);
  const stored = async (p: string) =>
    (await table().list({ partitionKey: p, limit: 9 })).map(({ row }) => row);

  describe.each(["lose_request", "lose_answer", "late", "unavailable"] as const)(
    "after a call that met %s",
    (fault) => {
      test("rows are written all the same, whatever was there", async () => {
        const p = partition();
        await table().put(p, { rowKey: "a", n: 0, kept: true });
        await once(fault, () => faulty().putProperties(p, { rowKey: "a", n: 1 }));
        expect(await stored(p)).toEqual([{ rowKey: "a", n: 1, kept: true }]);
        await once(fault, () => faulty().put(p, { rowKey: "a", n: 1 }));
        expect(await stored(p)).toEqual([{ rowKey: "a", n: 1 }]);
        await once(fault, () => faulty().putAll(p, rows));
        expect(await stored(p)).toEqual(rows);
      });

      test("rows are removed all the same", async () => {
        const p = partition();
        await table().putAll(p, rows);
        await once(fault, () => faulty().delete(p, "a"));
        expect(await stored(p)).toEqual(rows.slice(1));
        const others = partition();
        await table().putAll(others, rows);
        await once(fault, () => faulty().deleteAll(others, keys));
        expect(await stored(others)).toEqual([]);
      });

      test("a write on a condition is not repeated, since it would lose against itself", async () => {
        const p = partition();
        const etag = (await table().insertIfAbsent(p, { rowKey: "a" })) ?? "";
        const row = { rowKey: "a", n: 1 };
        const writes: readonly (() => Promise<unknown>)[] = [
          () => faulty().insertIfAbsent(p, { rowKey: "b" }),
          () => faulty().insertAllIfAbsent(p, [{ rowKey: "c" }, { rowKey: "d" }]),
          () => faulty().replaceIfUnchanged(p, row, etag),
          () => faulty().delete(p, "a", etag),
        ];
        for (const write of writes) await expect(once(fault, write)).rejects.toEqual(unavailable);
      });
    },
  );
}
