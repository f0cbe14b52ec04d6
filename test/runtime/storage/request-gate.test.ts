import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { RequestGate } from "../../../src/shared/runtime/storage/request-gate.ts";
import { Table } from "../../../src/shared/runtime/storage/table.ts";
import { openTables } from "../../../src/shared/runtime/storage/tables.ts";
import type { TableWire } from "../../../src/shared/runtime/storage/table-wire.ts";
import { PATIENCE_MS } from "../../setup/bounds.ts";
import { inWork } from "../../setup/in-work.ts";

const inBackground = <T>(run: () => Promise<T>) => inWork({ parents: [], isBackground: true }, run);

/** A gate whose requests end when they are told to. */
function start() {
  const gate = new RequestGate();
  const ends: { readonly name: string; readonly end: () => void }[] = [];
  const begun: string[] = [];
  const request = async (name: string) => {
    const end = await gate.begin();
    begun.push(name);
    ends.push({ name, end });
  };
  const many = (count: number, name: string) =>
    Array.from({ length: count }, (_, index) => `${name} ${index}`);
  return {
    begun,
    callers(count: number) {
      for (const name of many(count, "caller")) void request(name);
    },
    background(count: number) {
      for (const name of many(count, "background")) void inBackground(() => request(name));
    },
    async end(count: number, kind: string) {
      for (let left = count; left > 0; left -= 1) {
        const at = ends.findIndex(({ name }) => name.startsWith(kind));
        ends.splice(at, 1)[0]?.end();
      }
      await vi.waitFor(() => undefined);
    },
    count: (kind: string) => begun.filter((name) => name.startsWith(kind)).length,
  };
}

describe("a gate", () => {
  test("begins all requests of callers immediately", async () => {
    const gate = start();
    gate.background(100);
    gate.callers(100);
    await Promise.resolve();
    expect(gate.count("caller")).toBe(100);
  });

  test("begins as many requests of background work as callers leave, in their order", async () => {
    const gate = start();
    gate.callers(10);
    gate.background(9);
    await Promise.resolve();
    expect(gate.count("background")).toBe(6);
    await gate.end(2, "caller");
    expect(gate.begun.slice(10)).toEqual(
      Array.from({ length: 8 }, (_, index) => `background ${index}`),
    );
  });

  test("begins two requests of background work while callers take all", async () => {
    const gate = start();
    gate.callers(50);
    gate.background(5);
    await Promise.resolve();
    expect(gate.count("background")).toBe(2);
    await gate.end(1, "background");
    expect(gate.count("background")).toBe(3);
    await gate.end(3, "background");
    await gate.end(1, "background");
    expect(gate.count("background")).toBe(5);
  });

  test("counts a request that fails as ended", async () => {
    const find = () => Promise.reject(Object.assign(new Error("refused"), { statusCode: 403 }));
    const table = new Table(() => Promise.resolve({ find } as unknown as TableWire));
    const fail = (_: unknown, index: number) => inBackground(() => table.find("p", `row ${index}`));
    const all = await Promise.allSettled(Array.from({ length: 60 }, fail));
    expect(all.map(({ status }) => status)).toEqual(all.map(() => "rejected"));
  });
});

test("the time of a request begins when it is sent, and not while it waits for callers'", async () => {
  const signals: AbortSignal[] = [];
  const held = Promise.withResolvers<undefined>();
  const find: TableWire["find"] = (_partition, rowKey, signal) => {
    signals.push(signal);
    return rowKey === "last" ? Promise.resolve(undefined) : held.promise;
  };
  const table = new Table(() => Promise.resolve({ find } as unknown as TableWire));
  const timed = vi.spyOn(AbortSignal, "timeout");
  onTestFinished(() => timed.mockRestore());
  const calls = Array.from({ length: 16 }, (_, index) => table.find("p", `row ${index}`));
  const waiting = ["a", "b", "last"].map((rowKey) => inBackground(() => table.find("p", rowKey)));
  await vi.waitFor(() => expect(signals).toHaveLength(18), PATIENCE_MS);
  // What other work of this process times meanwhile counts for nothing: the signals of these requests tell.
  const timedBefore = timed.mock.calls.length;
  held.resolve(undefined);
  await Promise.all([...calls, ...waiting]);
  expect(new Set(signals).size).toBe(19);
  const place = (signal: AbortSignal) =>
    timed.mock.results.findIndex(({ value }) => value === signal);
  expect(signals.slice(0, 18).every((signal) => place(signal) < timedBefore)).toBe(true);
  expect(place(signals[18] as AbortSignal)).toBeGreaterThanOrEqual(timedBefore);
});

test("the tables of a process share one gate", async () => {
  const paths: string[] = [];
  const answers: ServerResponse[] = [];
  const service = createServer((request, response) => {
    paths.push(request.url ?? "");
    answers.push(response);
  });
  service.listen(0, "127.0.0.1");
  await once(service, "listening");
  onTestFinished(() => {
    service.closeAllConnections();
    service.close();
  });
  const { port } = service.address() as AddressInfo;
  const connectionString = `DefaultEndpointsProtocol=http;AccountName=one;AccountKey=a2V5;TableEndpoint=http://127.0.0.1:${port}/one;`;
  const tables = openTables({ data: { kind: "connection_string", connectionString }, prefix: "t" });
  const calls = Array.from({ length: 16 }, (_, index) => tables.core.find("p", `caller ${index}`));
  await vi.waitFor(() => expect(paths).toHaveLength(16), PATIENCE_MS);
  const work = Array.from({ length: 4 }, (_, index) =>
    inBackground(() => tables.wake.find("p", `worker ${index}`)),
  );
  const count = (name: string) => paths.filter((path) => path.includes(name)).length;
  await vi.waitFor(() => expect(count("worker")).toBeGreaterThanOrEqual(2), PATIENCE_MS);
  calls.push(tables.core.find("p", "last"));
  await vi.waitFor(() => expect(count("last")).toBe(1), PATIENCE_MS);
  expect(count("worker")).toBe(2);
  const answering = setInterval(() => {
    for (const response of answers.splice(0)) response.writeHead(404).end();
  }, 5);
  onTestFinished(() => clearInterval(answering));
  await Promise.all([...calls, ...work]);
  expect(count("worker")).toBe(4);
});
