import { randomBytes } from "node:crypto";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, inject, test } from "vitest";
import { AppError } from "../../src/shared/errors.ts";
import { openTable } from "../../src/shared/storage/account.ts";
import { afterPrefix, type Table } from "../../src/shared/storage/table.ts";
import { startFaultProxy, type Fault, type FaultProxy } from "../setup/fault-proxy.ts";

let table: Table;
let faulty: Table;
let fault: Fault = "pass";
let proxy: FaultProxy;
let count = 0;

const connectionString = () => inject("azurite");
const tablePort = () => Number(/TableEndpoint=http:\/\/[^:]+:(\d+)/.exec(connectionString())?.[1]);
const account = (text: string) => ({ kind: "connection_string", connectionString: text }) as const;
/** A partition that no other test touches. */
const partition = () => `p${(count += 1)}`;

beforeAll(async () => {
  const name = `contract${randomBytes(5).toString("hex")}`;
  proxy = await startFaultProxy(tablePort(), () => fault);
  table = openTable(account(connectionString()), name);
  const through = connectionString().replace(String(tablePort()), String(proxy.port));
  faulty = openTable(account(through), name);
  await table.put("warm", { rowKey: "up" });
});
afterAll(() => proxy.stop());

async function during<T>(with_: Fault, call: () => Promise<T>): Promise<T> {
  fault = with_;
  try {
    return await call();
  } finally {
    fault = "pass";
  }
}

const unavailable = expect.objectContaining({ code: "service_unavailable" });

describe("a row", () => {
  test("is inserted once; a second insert loses instead of throwing", async () => {
    const p = partition();
    expect(await table.insertIfAbsent(p, { rowKey: "a", n: 1 })).toEqual(expect.any(String));
    expect(await table.insertIfAbsent(p, { rowKey: "a", n: 2 })).toBeUndefined();
    expect((await table.find(p, "a"))?.row).toEqual({ rowKey: "a", n: 1 });
    expect(await table.find(p, "b")).toBeUndefined();
  });

  test("is replaced or merged only under its version", async () => {
    const p = partition();
    const first = (await table.insertIfAbsent(p, { rowKey: "a", n: 1, kept: "x" })) ?? "";
    const second = (await table.mergeIfUnchanged(p, { rowKey: "a", n: 2 }, first)) ?? "";
    expect((await table.find(p, "a"))?.row).toEqual({ rowKey: "a", n: 2, kept: "x" });
    expect(await table.replaceIfUnchanged(p, { rowKey: "a", n: 3 }, first)).toBeUndefined();
    expect(await table.replaceIfUnchanged(p, { rowKey: "a", n: 3 }, second)).toBeDefined();
    expect((await table.find(p, "a"))?.row).toEqual({ rowKey: "a", n: 3 });
    expect(await table.replaceIfUnchanged(p, { rowKey: "none" }, second)).toBeUndefined();
  });

  test("keeps text, whole numbers and truth as they were, up to the longest text", async () => {
    const p = partition();
    const row = { rowKey: "a", text: "é👩‍👩‍👧".repeat(2_000), empty: "", n: -2_147_483_648, yes: true };
    await table.put(p, row);
    expect((await table.find(p, "a"))?.row).toEqual(row);
  });

  test("is deleted once", async () => {
    const p = partition();
    await table.put(p, { rowKey: "a" });
    expect(await table.delete(p, "a")).toBe(true);
    expect(await table.delete(p, "a")).toBe(false);
  });
});

describe("a list", () => {
  test("holds a range in key order, across the service's own pages", async () => {
    const p = partition();
    for (let start = 0; start < 1_100; start += 100)
      await table.transact(
        p,
        Array.from({ length: 100 }, (_, index) => {
          const rowKey = `k${String(start + index).padStart(5, "0")}`;
          return { kind: "create", row: { rowKey, n: start + index } } as const;
        }),
      );
    const all = await table.list({ partitionKey: p, limit: 5_000 });
    expect(all.map(({ row }) => row["n"])).toEqual(Array.from({ length: 1_100 }, (_, n) => n));
    const some = await table.list({ partitionKey: p, from: "k00010", before: "k00020", limit: 5 });
    expect(some.map(({ row }) => row["n"])).toEqual([10, 11, 12, 13, 14]);
    const none = await table.list({ partitionKey: p, from: afterPrefix("k"), limit: 5 });
    expect(none).toEqual([]);
  });

  test("reads on past an empty page that promises more", async () => {
    const server = createServer((request, response) => {
      const isSecond = (request.url ?? "").includes("NextRowKey");
      response.writeHead(200, {
        "content-type": "application/json",
        ...(isSecond
          ? {}
          : { "x-ms-continuation-nextpartitionkey": "p", "x-ms-continuation-nextrowkey": "r" }),
      });
      const value = isSecond ? [{ PartitionKey: "p", RowKey: "r", "odata.etag": "e", n: 1 }] : [];
      response.end(JSON.stringify({ value }));
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as AddressInfo;
    const text = connectionString().replace(String(tablePort()), String(port));
    const rows = await openTable(account(text), "any").list({ partitionKey: "p", limit: 10 });
    expect(rows.map(({ row }) => row["n"])).toEqual([1]);
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });

  test("of a table that was never written is empty", async () => {
    const absent = openTable(
      account(connectionString()),
      `absent${randomBytes(5).toString("hex")}`,
    );
    expect(await absent.list({ partitionKey: "p", limit: 1 })).toEqual([]);
    expect(await absent.find("p", "r")).toBeUndefined();
  });
});

describe("a transaction", () => {
  test("applies all of its writes and tells the new versions", async () => {
    const p = partition();
    const etag = (await table.insertIfAbsent(p, { rowKey: "a", n: 1, kept: true })) ?? "";
    await table.put(p, { rowKey: "gone" });
    const result = await table.transact(p, [
      { kind: "merge", row: { rowKey: "a", n: 2 }, etag },
      { kind: "create", row: { rowKey: "b|1", n: 1 } },
      { kind: "delete", rowKey: "gone" },
    ]);
    expect(result.kind).toBe("applied");
    const etags = result.kind === "applied" ? result.etags : new Map<string, string>();
    expect((await table.find(p, "a"))?.row).toEqual({ rowKey: "a", n: 2, kept: true });
    expect(await table.find(p, "gone")).toBeUndefined();
    for (const rowKey of ["a", "b|1"])
      expect(
        await table.replaceIfUnchanged(p, { rowKey, n: 9 }, etags.get(rowKey) ?? ""),
      ).toBeDefined();
  });

  test.each([
    ["a row exists", [{ kind: "create", row: { rowKey: "a", n: 9 } }]],
    ["a version is old", [{ kind: "replace", row: { rowKey: "a", n: 9 }, etag: 'W/"old"' }]],
    ["a row to delete is gone", [{ kind: "delete", rowKey: "none" }]],
  ] as const)("applies nothing when %s", async (_, refused) => {
    const p = partition();
    await table.put(p, { rowKey: "a", n: 1 });
    const result = await table.transact(p, [
      { kind: "create", row: { rowKey: "new" } },
      ...refused,
    ]);
    expect(result).toEqual({ kind: "refused" });
    expect(await table.find(p, "new")).toBeUndefined();
    expect((await table.find(p, "a"))?.row["n"]).toBe(1);
  });

  test("of more than a hundred rows is a defect and says so", async () => {
    const p = partition();
    const writes = Array.from({ length: 101 }, (_, n) => {
      return { kind: "create", row: { rowKey: `r${n}` } } as const;
    });
    await expect(table.transact(p, writes)).rejects.toThrow();
    expect(await table.list({ partitionKey: p, limit: 1 })).toEqual([]);
  });
});

describe("an answer that did not come or is wrong", () => {
  test.each(["lose_request", "lose_answer", "unavailable"] as const)(
    "%s: a single write is unavailable, a transaction is in doubt",
    async (kind) => {
      const p = partition();
      const write = faulty.insertIfAbsent(p, { rowKey: "a" });
      await expect(during(kind, () => write)).rejects.toEqual(unavailable);
      const result = during(kind, () =>
        faulty.transact(p, [{ kind: "create", row: { rowKey: "b" } }]),
      );
      expect(await result).toMatchObject({ kind: "in_doubt" });
    },
  );

  test("a write whose answer was lost is there, and repeating it loses", async () => {
    const p = partition();
    await expect(
      during("lose_answer", () => faulty.insertIfAbsent(p, { rowKey: "a" })),
    ).rejects.toBeInstanceOf(AppError);
    expect(await table.insertIfAbsent(p, { rowKey: "a" })).toBeUndefined();
  });

  test("a false conflict of a transaction counts as refused although it was applied", async () => {
    const p = partition();
    const result = await during("false_412", () =>
      faulty.transact(p, [{ kind: "create", row: { rowKey: "a" } }]),
    );
    expect(result).toEqual({ kind: "refused" });
    expect(await table.find(p, "a")).toBeDefined();
  });

  test("a conflict where none can be leaves the outcome open", async () => {
    const p = partition();
    const write = during("false_412", () => faulty.put(p, { rowKey: "a" }));
    await expect(write).rejects.toEqual(unavailable);
  });

  test("reads are tried again and give up as unavailable", async () => {
    const p = partition();
    await table.put(p, { rowKey: "a" });
    let calls = 0;
    const twice = await startFaultProxy(tablePort(), () =>
      (calls += 1) <= 2 ? "unavailable" : "pass",
    );
    const text = connectionString().replace(String(tablePort()), String(twice.port));
    const name = `reads${randomBytes(5).toString("hex")}`;
    await openTable(account(connectionString()), name).put(p, { rowKey: "a" });
    expect(await openTable(account(text), name).find(p, "a")).toBeDefined();
    await twice.stop();
    await expect(during("unavailable", () => faulty.find(p, "a"))).rejects.toEqual(unavailable);
  });
});

test("a table that is missing is made by the first write, also by two at once", async () => {
  const name = `made${randomBytes(5).toString("hex")}`;
  const [one, two] = [
    openTable(account(connectionString()), name),
    openTable(account(connectionString()), name),
  ];
  await Promise.all([one.put("p", { rowKey: "a" }), two.put("p", { rowKey: "b" })]);
  expect(await one.list({ partitionKey: "p", limit: 10 })).toHaveLength(2);
});
