import { randomBytes } from "node:crypto";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, expect, inject, test } from "vitest";
import { openTable } from "../../../src/shared/runtime/storage/tables.ts";
import type { Table } from "../../../src/shared/runtime/storage/table.ts";
import { startFaultProxy, type Fault, type FaultProxy } from "../../setup/fault-proxy.ts";
import { describeTable } from "./table-contract.ts";

let table: Table;
let faulty: Table;
let fault: Fault = "pass";
let isOnce = false;
let proxy: FaultProxy;

const connectionString = () => inject("azurite");
const tablePort = () => Number(/TableEndpoint=http:\/\/[^:]+:(\d+)/.exec(connectionString())?.[1]);
const account = (text: string) => ({ kind: "connection_string", connectionString: text }) as const;
const through = (port: number) => connectionString().replace(String(tablePort()), String(port));
const uniqueName = () => `contract${randomBytes(5).toString("hex")}`;

beforeAll(async () => {
  const name = uniqueName();
  proxy = await startFaultProxy(tablePort(), () => {
    const met = fault;
    if (isOnce) fault = "pass";
    return met;
  });
  table = openTable(account(connectionString()), name);
  faulty = openTable(account(through(proxy.port)), name);
  await table.put("warm", { rowKey: "up" });
});
afterAll(() => proxy.stop());

describeTable("a table of the storage service", {
  table: () => table,
  faulty: () => faulty,
  async during(with_, call) {
    fault = with_;
    try {
      return await call();
    } finally {
      fault = "pass";
    }
  },
  async once(with_, call) {
    [fault, isOnce] = [with_, true];
    try {
      return await call();
    } finally {
      [fault, isOnce] = ["pass", false];
    }
  },
  fresh() {
    const name = uniqueName();
    const open = () => openTable(account(connectionString()), name);
    return [open(), open()];
  },
});

test("a list reads on past an empty page that promises more", async () => {
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
  const rows = await openTable(account(through(port)), "any").list({
    partitionKey: "p",
    limit: 10,
  });
  expect(rows.map(({ row }) => row["n"])).toEqual([1]);
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

test("reads are tried again until they are answered", async () => {
  let calls = 0;
  const twice = await startFaultProxy(tablePort(), () =>
    (calls += 1) <= 2 ? "unavailable" : "pass",
  );
  const name = uniqueName();
  await openTable(account(connectionString()), name).put("p", { rowKey: "a" });
  expect(await openTable(account(through(twice.port)), name).find("p", "a")).toBeDefined();
  await twice.stop();
});
