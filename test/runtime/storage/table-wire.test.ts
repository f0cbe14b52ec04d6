import { randomBytes } from "node:crypto";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import {
  createHttpHeaders,
  type PipelineRequest,
  type PipelineResponse,
} from "@azure/core-rest-pipeline";
import { AzureNamedKeyCredential, generateAccountSas, TableClient } from "@azure/data-tables";
import { describe, expect, inject, test } from "vitest";
import { ServiceTable } from "../../../src/shared/runtime/storage/table-wire.ts";
import { Table } from "../../../src/shared/runtime/storage/table.ts";
import { openTable } from "../../../src/shared/runtime/storage/tables.ts";

const connectionString = inject("azurite");
const part = (name: string) =>
  new RegExp(`(?:^|;)${name}=([^;]+)`).exec(connectionString)?.[1] ?? "";
const open = (text: string, name: string) =>
  openTable({ kind: "connection_string", connectionString: text }, name);
const uniqueName = () => `wire${randomBytes(5).toString("hex")}`;
const sdk = (name: string) =>
  TableClient.fromConnectionString(connectionString, name, { allowInsecureConnection: true });

const create = (rowKey: string) => ({ kind: "create", row: { rowKey, n: 1 } }) as const;

/** A table whose service gives this answer to everything. */
async function answering<T>(listener: RequestListener, use: (table: Table) => Promise<T>) {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const endpoint = `TableEndpoint=http://127.0.0.1:${port}/account;`;
  const key = Buffer.from("k".repeat(32)).toString("base64");
  try {
    return await use(
      open(
        `DefaultEndpointsProtocol=http;AccountName=account;AccountKey=${key};${endpoint}`,
        "any",
      ),
    );
  } finally {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
}

describe("who may ask", () => {
  test("who may ask is shown by a token of the app's identity, on every kind of request", async () => {
    const sent: PipelineRequest[] = [];
    const scopes: unknown[] = [];
    const client = new TableClient("https://account.table.core.windows.net/", "core", {
      getToken: (scope) => {
        scopes.push(scope);
        return Promise.resolve({
          token: "of-identity",
          expiresOnTimestamp: Date.now() + 3_600_000,
        });
      },
    });
    const answer = (request: PipelineRequest): Promise<PipelineResponse> => {
      sent.push(request);
      const isBatch = request.url.endsWith("/$batch");
      const bodyAsText = isBatch
        ? "--changesetresponse_1\r\nHTTP/1.1 204 No Content\r\nETag: new\r\n\r\n--changesetresponse_1--"
        : '{"RowKey":"r","odata.etag":"e","value":[]}';
      const headers = createHttpHeaders({ etag: "new" });
      return Promise.resolve({ request, status: isBatch ? 202 : 200, headers, bodyAsText });
    };
    client.pipeline.addPolicy({ name: "answer", sendRequest: answer }, { afterPhase: "Sign" });
    const table = new Table(() => Promise.resolve(new ServiceTable(client)));
    expect(await table.find("p", "r")).toEqual({ row: { rowKey: "r" }, etag: "e" });
    expect(await table.list({ partitionKey: "p", limit: 1 })).toEqual([]);
    expect(await table.insertIfAbsent("p", { rowKey: "r" })).toBe("new");
    expect(await table.transact("p", [create("r")])).toEqual({
      kind: "applied",
      etags: new Map([["r", "new"]]),
    });
    expect(sent.map(({ url }) => url.split("?")[0])).toEqual([
      "https://account.table.core.windows.net/core(PartitionKey='p',RowKey='r')",
      "https://account.table.core.windows.net/core()",
      "https://account.table.core.windows.net/core",
      "https://account.table.core.windows.net/$batch",
    ]);
    for (const { headers } of sent) expect(headers.get("authorization")).toBe("Bearer of-identity");
    expect(new Set(scopes.flat())).toEqual(new Set(["https://storage.azure.com/.default"]));
  });

  test("who may ask is shown by a signature of limited rights as well as by the account's key", async () => {
    const account = new AzureNamedKeyCredential(part("AccountName"), part("AccountKey"));
    const name = uniqueName();
    await sdk(name).createTable();
    const sas = (rights: object) =>
      `TableEndpoint=${part("TableEndpoint")};SharedAccessSignature=${generateAccountSas(account, {
        expiresOn: new Date(Date.now() + 3_600_000),
        permissions: rights,
      })}`;
    const all = open(
      sas({ add: true, update: true, write: true, query: true, delete: true }),
      name,
    );
    expect((await all.transact("p", [create("a"), create("b")])).kind).toBe("applied");
    expect((await all.find("p", "b"))?.row).toEqual({ rowKey: "b", n: 1 });
    expect(await all.delete("p", "b")).toBe(true);
    const reading = open(sas({ query: true }), name);
    expect(await reading.list({ partitionKey: "p", limit: 9 })).toHaveLength(1);
    await expect(reading.insertIfAbsent("p", { rowKey: "c" })).rejects.toMatchObject({
      statusCode: 403,
    });
  });
});

describe("rows", () => {
  test("rows have keys of any characters that the service takes", async () => {
    const table = open(connectionString, uniqueName());
    const [p, rowKey] = ["it's 100 % ü & +", "a'b|c=d,e(f)@g ~日本"];
    const etag = (await table.insertIfAbsent(p, { rowKey, n: 1 })) ?? "";
    const merged = await table.transact(p, [{ kind: "merge", row: { rowKey, n: 2 }, etag }]);
    expect(merged.kind).toBe("applied");
    expect((await table.find(p, rowKey))?.row).toEqual({ rowKey, n: 2 });
    expect(await table.list({ partitionKey: p, from: rowKey, limit: 2 })).toHaveLength(1);
    expect(await table.delete(p, rowKey)).toBe(true);
  });

  test("rows that another client wrote are read without what has a type of its own", async () => {
    const name = uniqueName();
    await sdk(name).createTable();
    const own = { text: "x", n: -7, half: 1.5, yes: false };
    const typed = {
      at: new Date(0),
      large: 9_007_199_254_740_993n,
      id: { type: "Guid", value: "c9da6455-213d-42c9-9a79-3e9149a57833" },
      bytes: new Uint8Array([1]),
    };
    await sdk(name).createEntity({ partitionKey: "p", rowKey: "r", ...own, ...typed });
    const table = open(connectionString, name);
    const stored = await table.find("p", "r");
    expect(stored?.row).toEqual({ rowKey: "r", ...own });
    expect(await table.list({ partitionKey: "p", limit: 2 })).toEqual([stored]);
  });

  test("rows are listed on from where the SDK's own client stopped, as kept positions name it", async () => {
    const name = uniqueName();
    const table = open(connectionString, name);
    for (const rowKey of ["a", "b", "c", "d"]) await table.put("it's", { rowKey });
    const pages = sdk(name).listEntities().byPage({ maxPageSize: 2 });
    const { value: first } = await pages.next();
    const position = (first as { continuationToken?: string }).continuationToken;
    expect(position).toEqual(expect.any(String));
    const { rows, next } = await table.select({ pageRows: 2 }, position);
    expect(rows.map(({ row }) => row.rowKey)).toEqual(["c", "d"]);
    const ours = await table.select({ pageRows: 2 }, undefined);
    expect(ours.next).toBe(position);
    expect(next).toBeUndefined();
  });
});

/** A table whose service takes everything, and the bodies that it was sent. */
function taking() {
  const bodies: string[] = [];
  const account = new AzureNamedKeyCredential("account", Buffer.from("key").toString("base64"));
  const client = new TableClient("https://account.table.core.windows.net/", "any", account);
  const sendRequest = (request: PipelineRequest): Promise<PipelineResponse> => {
    const { body } = request;
    bodies.push(Buffer.isBuffer(body) ? body.toString() : typeof body === "string" ? body : "");
    const count = request.url.endsWith("/$batch") ? 2 : 0;
    const part = "--changesetresponse_1\r\nHTTP/1.1 204 No Content\r\nETag: new\r\n\r\n";
    const headers = createHttpHeaders({ etag: "new" });
    const bodyAsText = `${part.repeat(count)}--changesetresponse_1--`;
    return Promise.resolve({ request, status: 202, headers, bodyAsText });
  };
  client.pipeline.addPolicy({ name: "answer", sendRequest }, { afterPhase: "Sign" });
  return { bodies, table: new Table(() => Promise.resolve(new ServiceTable(client))) };
}

describe("the JSON of a row", () => {
  const everyKind = Array.from({ length: 0xffff }, (_, unit) => String.fromCharCode(unit))
    .filter((unit) => unit.isWellFormed())
    .join("");
  const value = `${everyKind}\u{1f600}"}\r\n--batch_1--\r\n{`;

  test("the JSON of a row is in one line in a transaction, whatever a line is", async () => {
    const { bodies, table } = taking();
    await table.transact("p", [
      { kind: "create", row: { rowKey: "a", value } },
      { kind: "merge", row: { rowKey: "b", value }, etag: "e" },
    ]);
    // As the emulator finds it: a full stop matches no character that ends a line.
    const parts = bodies[0]?.match(/^\{.*\}\r$/gm) ?? [];
    expect(parts.map((part) => (JSON.parse(part) as { value: string }).value)).toEqual([
      value,
      value,
    ]);
  });

  test("the JSON of a row is ASCII in a write of its own, so that no part of it ends within a character", async () => {
    const { bodies, table } = taking();
    await table.put("p", { rowKey: "a", value });
    await table.insertIfAbsent("p", { rowKey: "b", value });
    await table.mergeIfUnchanged("p", { rowKey: "c", value }, "e");
    expect(bodies).toHaveLength(3);
    for (const body of bodies) {
      expect(body).toMatch(/^[\u0020-\u007f]*$/);
      expect(JSON.parse(body)).toMatchObject({ value });
    }
  });

  test("the JSON of a row of long text is stored as it is by the emulator", async () => {
    const table = open(connectionString, uniqueName());
    const long = Object.fromEntries(
      ["a", "b", "c", "d"].map((name) => [name, "日".repeat(31_000)]),
    );
    await table.put("p", { rowKey: "alone", ...long });
    await table.putAll("p", [{ rowKey: "one", ...long }, { rowKey: "two" }]);
    for (const rowKey of ["alone", "one"])
      expect((await table.find("p", rowKey))?.row).toEqual({ rowKey, ...long });
  });
});

describe("an answer that is not the service's own", () => {
  const writes = [create("a"), create("b")];
  const page = "<html>Service Unavailable</html>";

  test.each([
    ["of fewer writes than were sent", 202, "--changesetresponse_1\r\nHTTP/1.1 204 No Content\r\n"],
    ["that is empty", 202, ""],
    ["of a gateway", 502, page],
  ])("leaves a transaction in doubt: %s", async (_which, status, text) => {
    const result = await answering(
      (_request, response) => response.writeHead(status).end(text),
      (table) => table.transact("p", writes),
    );
    expect(result).toMatchObject({ kind: "in_doubt", isBusy: false });
  });

  test("tells a transaction that the service is busy", async () => {
    const result = await answering(
      (_request, response) => response.writeHead(503).end(page),
      (table) => table.transact("p", writes),
    );
    expect(result).toMatchObject({ kind: "in_doubt", isBusy: true });
  });

  test("an answer that is not the service's own is no row, and not the absence of one", async () => {
    const found = answering(
      (_request, response) => response.writeHead(200).end(page),
      (table) => table.find("p", "a"),
    );
    await expect(found).rejects.toMatchObject({ code: "service_unavailable" });
  });

  test("names what the service refuses in its words", async () => {
    const error = { code: "PropertyNameInvalid", message: { lang: "en", value: "0:The name." } };
    const sent = answering(
      (_request, response) => response.writeHead(400).end(JSON.stringify({ "odata.error": error })),
      (table) => table.transact("p", writes),
    );
    await expect(sent).rejects.toMatchObject({
      name: "InvalidTransaction",
      at: 0,
      cause: { statusCode: 400, code: "PropertyNameInvalid", message: "0:The name." },
    });
  });
});
