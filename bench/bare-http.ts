import { randomUUID } from "node:crypto";
import { Agent, request } from "node:http";
import { AzureNamedKeyCredential, generateAccountSas } from "@azure/data-tables";
import {
  AccountSASPermissions,
  AccountSASResourceTypes,
  AccountSASServices,
  generateAccountSASQueryParameters,
  StorageSharedKeyCredential,
} from "@azure/storage-queue";
import { rowsAt, type Entity, type PostRows, type StoreBare } from "./bare-storage.ts";
import type { BenchStorage } from "./emulator.ts";

const HOUR_MS = 3_600_000;

function part(connectionString: string, name: string): string {
  const value = new RegExp(`(?:^|;)${name}=([^;]+)`).exec(connectionString)?.[1];
  if (value === undefined) throw new Error(`the connection string has no ${name}`);
  return value;
}

interface Endpoint {
  readonly origin: string;
  /** Signed once: the client under measurement computes no signatures. */
  readonly query: string;
}

function tablesOf({ tables }: BenchStorage): Endpoint {
  const credential = new AzureNamedKeyCredential(
    part(tables, "AccountName"),
    part(tables, "AccountKey"),
  );
  const query = generateAccountSas(credential, {
    expiresOn: new Date(Date.now() + HOUR_MS),
    permissions: { add: true, update: true, write: true, query: true },
  });
  return { origin: part(tables, "TableEndpoint"), query };
}

function queuesOf({ queues }: BenchStorage): Endpoint {
  const credential = new StorageSharedKeyCredential(
    part(queues, "AccountName"),
    part(queues, "AccountKey"),
  );
  const signed = generateAccountSASQueryParameters(
    {
      expiresOn: new Date(Date.now() + HOUR_MS),
      permissions: AccountSASPermissions.parse("wap"),
      resourceTypes: AccountSASResourceTypes.parse("sco").toString(),
      services: AccountSASServices.parse("q").toString(),
    },
    credential,
  );
  return { origin: part(queues, "QueueEndpoint"), query: signed.toString() };
}

interface Sent {
  readonly agent: Agent;
  readonly url: string;
  readonly contentType: string;
  readonly body: string;
}

function send({ agent, url, contentType, body }: Sent): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const headers = {
    "content-type": contentType,
    "content-length": Buffer.byteLength(body),
    "x-ms-version": "2019-02-02",
    dataserviceversion: "3.0",
    accept: "application/json;odata=minimalmetadata",
  };
  const sent = request(url, { method: "POST", agent, headers, timeout: 10_000 }, (response) => {
    let text = "";
    response.setEncoding("utf8");
    response.on("data", (chunk: string) => {
      text += chunk;
    });
    response.on("end", () => {
      const status = response.statusCode ?? 0;
      if (status < 300) resolve(text);
      else reject(new Error(`storage answered ${status}: ${text}`));
    });
    response.on("error", reject);
  });
  sent.on("timeout", () => sent.destroy(new Error("storage did not answer")));
  sent.on("error", reject);
  sent.end(body);
  return promise;
}

function operation(verb: string, url: string, entity: object): string {
  return [
    "Content-Type: application/http",
    "Content-Transfer-Encoding: binary",
    "",
    `${verb} ${url} HTTP/1.1`,
    "Content-Type: application/json",
    "Accept: application/json;odata=minimalmetadata",
    "DataServiceVersion: 3.0",
    "Prefer: return-no-content",
    "",
    JSON.stringify(entity),
    "",
  ].join("\r\n");
}

function batchBody(boundary: string, operations: readonly string[]): string {
  const changes = `changes_${boundary}`;
  const parts = operations.map((text) => `--${changes}\r\n${text}`).join("");
  return `--${boundary}\r\nContent-Type: multipart/mixed; boundary=${changes}\r\n\r\n${parts}--${changes}--\r\n--${boundary}--\r\n`;
}

/** The fastest that one process gets out of the emulator: a keep-alive client that knows these two requests alone. */
export function throughBareHttp(
  storage: BenchStorage,
  names: { readonly table: string; readonly queue: string },
  rows: PostRows,
): StoreBare {
  const agent = new Agent({ keepAlive: true });
  const tables = tablesOf(storage);
  const queues = queuesOf(storage);
  const tableUrl = `${tables.origin}/${names.table}`;
  const keyed = ({ rowKey, ...properties }: Entity, partitionKey: string) => {
    return { PartitionKey: partitionKey, RowKey: rowKey, ...properties };
  };
  const message = `<QueueMessage><MessageText>${rows.message}</MessageText></QueueMessage>`;
  return async (partitionKey, index) => {
    const boundary = `batch_${randomUUID()}`;
    const operations = [
      ...rowsAt(rows, index).map((entity) =>
        operation("POST", tableUrl, keyed(entity, partitionKey)),
      ),
      ...rows.rewritten.map((entity) => {
        const url = `${tableUrl}(PartitionKey='${partitionKey}',RowKey='${encodeURIComponent(entity.rowKey)}')`;
        return operation("PUT", url, keyed(entity, partitionKey));
      }),
    ];
    const answered = await send({
      agent,
      url: `${tables.origin}/$batch?${tables.query}`,
      contentType: `multipart/mixed; boundary=${boundary}`,
      body: batchBody(boundary, operations),
    });
    const applied = answered.split("HTTP/1.1 204").length - 1;
    if (applied !== operations.length) throw new Error(`the transaction was refused: ${answered}`);
    await send({
      agent,
      url: `${queues.origin}/${names.queue}/messages?messagettl=-1&${queues.query}`,
      contentType: "application/xml",
      body: message,
    });
  };
}
