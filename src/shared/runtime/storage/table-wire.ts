import { randomUUID } from "node:crypto";
import {
  createDefaultHttpClient,
  createHttpHeaders,
  createPipelineRequest,
  type HttpMethods,
  type Pipeline,
  type PipelineResponse,
} from "@azure/core-rest-pipeline";
import type { TableClient } from "@azure/data-tables";
import { StorageRefusal } from "./failure.ts";
import type { Row, RowValue, RowWrite, RowPut, StoredRow } from "./row.ts";
import type { SelectedPage } from "./selection.ts";

// Writes requests to a table and reads their answers. The SDK's pipeline signs and sends them. The SDK's own requests
// take up to seven times the CPU time, because it makes a client for each transaction and passes each row through that
// client. The formats: https://learn.microsoft.com/rest/api/storageservices/table-service-rest-api.

/** The version that the SDK uses. */
const SERVICE_VERSION = "2019-02-02";
const HEADERS = {
  accept: "application/json;odata=minimalmetadata",
  dataserviceversion: "3.0",
};

/** A write of one row, alone or in a transaction. */
export type SingleWrite =
  | RowWrite
  | RowPut
  /** Writes the named properties regardless of what is stored. */
  | { readonly kind: "put_properties"; readonly row: Row }
  | { readonly kind: "delete"; readonly rowKey: string; readonly etag: string };

export interface PageQuery {
  readonly filter: string;
  readonly rows: number;
  /** The only columns that the service returns. Undefined for all of them. */
  readonly columns: readonly string[] | undefined;
  /** Where the page begins, as an earlier page said. */
  readonly after: string | undefined;
}

/**
 * One table as the service offers it, created by the first write. Every call is made once. It throws a StorageRefusal for any answer but success,
 * and another error when there was no answer.
 */
export interface TableWire {
  /** Returns undefined when the row or the table doesn't exist. */
  find(partitionKey: string, rowKey: string, signal: AbortSignal): Promise<StoredRow | undefined>;
  page(query: PageQuery, signal: AbortSignal): Promise<SelectedPage>;
  /** Returns the row's new version, or "" after a delete. */
  write(partitionKey: string, write: SingleWrite, signal: AbortSignal): Promise<string>;
  /** Returns the new versions in the order of the writes. */
  transact(
    partitionKey: string,
    writes: readonly SingleWrite[],
    signal: AbortSignal,
  ): Promise<readonly string[]>;
}

interface WriteRequest {
  readonly method: HttpMethods;
  readonly path: string;
  /** The version that the row must have, or "*" for any. */
  readonly etag?: string;
  readonly body?: string;
}

/** Headers of a write. The parts of a transaction have the same ones. */
const writeHeaders = ({ method, etag, body }: WriteRequest): Readonly<Record<string, string>> => ({
  ...HEADERS,
  ...(body === undefined ? {} : { "content-type": "application/json" }),
  ...(method === "POST" ? { prefer: "return-no-content" } : {}),
  ...(etag === undefined ? {} : { "if-match": etag }),
});

const linesOf = (headers: Readonly<Record<string, string>>) =>
  Object.entries(headers)
    .map(([name, value]) => `${name}: ${value}\r\n`)
    .join("");

/** Computed once, because a transaction has up to a hundred writes. */
const LINES = {
  created: linesOf(writeHeaders({ method: "POST", path: "", body: "" })),
  written: linesOf(writeHeaders({ method: "PUT", path: "", body: "" })),
  deleted: linesOf(writeHeaders({ method: "DELETE", path: "" })),
};

const keyText = (key: string) => encodeURIComponent(key.replaceAll("'", "''"));
const rowPath = (table: string, partitionKey: string, rowKey: string) =>
  `/${table}(PartitionKey='${keyText(partitionKey)}',RowKey='${keyText(rowKey)}')`;

type Entity = Readonly<Record<string, unknown>>;

const NOT_COLUMNS: ReadonlySet<string> = new Set(["PartitionKey", "RowKey", "Timestamp"]);

/** Converts a row of the service. Properties with a type of their own, such as a time, are left out: we write none. */
function toStoredRow(entity: Entity): StoredRow {
  const row: Record<string, RowValue> & { rowKey: string } = { rowKey: String(entity["RowKey"]) };
  for (const name of Object.keys(entity)) {
    const value = entity[name];
    // Other names describe the answer or the type of a column.
    const isColumn = !NOT_COLUMNS.has(name) && !name.startsWith("odata.") && !name.includes("@");
    if (!isColumn || `${name}@odata.type` in entity) continue;
    if (typeof value === "string" || typeof value === "number" || typeof value === "boolean")
      row[name] = value;
  }
  return { row, etag: String(entity["odata.etag"]) };
}

const escaped = (character: string) =>
  `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;

const LINE_ENDS = /[\u2028\u2029]/g;

const BEYOND_ASCII = /[\u0080-\uffff]/g;

/**
 * Escapes everything outside ASCII. The storage emulator decodes the body of a single write piece by piece and would
 * damage a character that is split between two pieces. It joins the pieces of a transaction before decoding, so
 * transactions use UTF-8, which is shorter: they are limited to 4 MiB.
 */
const inAscii = (body: string) => body.replace(BEYOND_ASCII, escaped);

function writeRequest(table: string, partitionKey: string, write: SingleWrite): WriteRequest {
  if (write.kind === "delete") {
    const etag = "etag" in write ? write.etag : "*";
    return { method: "DELETE", path: rowPath(table, partitionKey, write.rowKey), etag };
  }
  const { rowKey, ...columns } = write.row;
  const json = JSON.stringify({ PartitionKey: partitionKey, RowKey: rowKey, ...columns });
  // U+2028 and U+2029 are escaped too, although JSON doesn't require it: the storage emulator takes them for line ends,
  // fails in the middle of the transaction, and then refuses every later one.
  const body = json.replace(LINE_ENDS, escaped);
  if (write.kind === "create") return { method: "POST", path: `/${table}`, body };
  const path = rowPath(table, partitionKey, rowKey);
  switch (write.kind) {
    case "put":
      return { method: "PUT", path, body };
    case "put_properties":
      return { method: "PATCH", path, body };
    case "replace":
      return { method: "PUT", path, etag: write.etag, body };
    case "merge":
      return { method: "PATCH", path, etag: write.etag, body };
  }
}

/** Throws the error that the service's answer describes, in its JSON body or only in a header. */
function throwRefusal(status: number, body: string, code: string | undefined): never {
  let said: { readonly code?: string; readonly message?: { readonly value?: string } } = {};
  try {
    const parsed = JSON.parse(body) as { "odata.error"?: typeof said };
    said = parsed["odata.error"] ?? {};
  } catch {
    // The body is the error page of a gateway. The status says enough.
  }
  throw new StorageRefusal(said.message?.value ?? `storage answered ${status}`, {
    statusCode: status,
    code: said.code ?? code,
  });
}

function successOf(answer: PipelineResponse): PipelineResponse {
  const { status, bodyAsText, headers } = answer;
  if (status < 200 || status >= 300)
    throwRefusal(status, bodyAsText ?? "", headers.get("x-ms-error-code"));
  return answer;
}

const answerJson = ({ bodyAsText }: PipelineResponse): unknown => JSON.parse(bodyAsText ?? "");

/** Returns the requests of a transaction in one body (OData batch with one change set). Header lines end with CRLF. */
function batchBody(
  url: string,
  requests: readonly WriteRequest[],
  { batch, changes }: { readonly batch: string; readonly changes: string },
): Buffer {
  const parts = requests.map(({ method, path, etag, body }) => {
    let lines = body === undefined ? LINES.deleted : LINES.written;
    if (method === "POST") lines = LINES.created;
    else if (etag !== undefined) lines += `if-match: ${etag}\r\n`;
    return `--${changes}\r\nContent-Type: application/http\r\nContent-Transfer-Encoding: binary\r\n\r\n${method} ${url}${path} HTTP/1.1\r\n${lines}\r\n${body ?? ""}\r\n`;
  });
  // Encoded once. Signing and sending would each encode it again.
  return Buffer.from(
    `--${batch}\r\nContent-Type: multipart/mixed; boundary=${changes}\r\n\r\n${parts.join("")}--${changes}--\r\n--${batch}--\r\n`,
  );
}

/** Returns the row versions in the answer to a transaction. @throws StorageRefusal of the write that failed */
function etagsOf(text: string, count: number): string[] {
  const parts = text.split("--changesetresponse_").slice(1, -1);
  const etags = parts.map((part) => {
    const status = Number(/HTTP\/1\.1 (\d{3})/.exec(part)?.[1]);
    if (!(status < 300)) {
      const body = part.slice(part.indexOf("{"), part.lastIndexOf("}") + 1);
      throwRefusal(status, body, undefined);
    }
    return /^ETag: (.+)$/im.exec(part)?.[1] ?? "";
  });
  // An error: the outcome is unknown, so this must not count as applied.
  if (etags.length !== count)
    throw new Error(`storage answered ${etags.length} of ${count} writes of a transaction`);
  return etags;
}

/** Where a query continues, in the SDK's format, because long walks store such positions. */
interface Continuation {
  readonly nextPartitionKey: string;
  readonly nextRowKey?: string | undefined;
}

/** Shared by all tables, because it holds the connections. */
const httpClient = createDefaultHttpClient();

/** Policies that handle the bodies of the SDK's own requests. */
const OF_BODIES = ["serializationPolicy", "deserializationPolicy"];

interface Sendable {
  readonly method: HttpMethods;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | Buffer;
}

/** A table of the real service, with the account and credentials of the SDK's client. */
export class ServiceTable implements TableWire {
  readonly #client: TableClient;
  readonly #pipeline: Pipeline;
  readonly #url: string;
  /** The shared access signature of the connection string, or "". */
  readonly #signature: string;

  constructor(client: TableClient) {
    this.#client = client;
    this.#pipeline = client.pipeline.clone();
    for (const name of OF_BODIES) this.#pipeline.removePolicy({ name });
    const [url = "", signature = ""] = client.url.split("?");
    this.#url = url.endsWith("/") ? url.slice(0, -1) : url;
    this.#signature = signature;
  }

  /** Sends a request and returns its answer, whatever its status is. */
  async #send({ method, path, headers, body }: Sendable, signal: AbortSignal) {
    const plain = this.#url + path;
    const separator = path.includes("?") ? "&" : "?";
    const url = this.#signature === "" ? plain : plain + separator + this.#signature;
    const request = createPipelineRequest({
      url,
      method,
      headers: createHttpHeaders({ ...headers, "x-ms-version": SERVICE_VERSION }),
      ...(body === undefined ? {} : { body }),
      abortSignal: signal,
      // The client was made for an account without TLS on purpose.
      allowInsecureConnection: url.startsWith("http:"),
    });
    const answer = await this.#pipeline.sendRequest(httpClient, request);
    // A read takes a missing table for an empty one. Two processes may create it at the same time.
    if (method === "GET" || answer.bodyAsText?.includes('"TableNotFound"') !== true) return answer;
    await this.#client.createTable({ abortSignal: signal });
    return await this.#pipeline.sendRequest(httpClient, request);
  }

  async find(partitionKey: string, rowKey: string, signal: AbortSignal) {
    const path = rowPath(this.#client.tableName, partitionKey, rowKey);
    const answer = await this.#send({ method: "GET", path, headers: HEADERS }, signal);
    if (answer.status === 404) return undefined;
    // Safe: a successful read has this form.
    return toStoredRow(answerJson(successOf(answer)) as Entity);
  }

  async page(
    { filter, rows, columns, after }: PageQuery,
    signal: AbortSignal,
  ): Promise<SelectedPage> {
    const fits = filter === "" ? "" : `&$filter=${encodeURIComponent(filter)}`;
    let from = "";
    if (after !== undefined) {
      const { nextPartitionKey, nextRowKey } = JSON.parse(
        Buffer.from(after, "base64").toString(),
      ) as Continuation;
      from = `&NextPartitionKey=${encodeURIComponent(nextPartitionKey)}`;
      if (nextRowKey) from += `&NextRowKey=${encodeURIComponent(nextRowKey)}`;
    }
    const only = columns === undefined ? "" : `&$select=PartitionKey,RowKey,${columns.join(",")}`;
    const path = `/${this.#client.tableName}()?$top=${rows}${fits}${only}${from}`;
    const answer = successOf(await this.#send({ method: "GET", path, headers: HEADERS }, signal));
    const { value } = answerJson(answer) as { readonly value: readonly Entity[] };
    const found = value.map((entity) => ({
      ...toStoredRow(entity),
      partitionKey: String(entity["PartitionKey"]),
    }));
    const nextPartitionKey = answer.headers.get("x-ms-continuation-nextpartitionkey");
    if (nextPartitionKey === undefined) return { rows: found, next: undefined };
    const nextRowKey = answer.headers.get("x-ms-continuation-nextrowkey");
    const next: Continuation = { nextPartitionKey, nextRowKey };
    return { rows: found, next: Buffer.from(JSON.stringify(next)).toString("base64") };
  }

  async write(partitionKey: string, write: SingleWrite, signal: AbortSignal): Promise<string> {
    const request = writeRequest(this.#client.tableName, partitionKey, write);
    const { body } = request;
    const sent = {
      ...request,
      headers: writeHeaders(request),
      ...(body === undefined ? {} : { body: inAscii(body) }),
    };
    return successOf(await this.#send(sent, signal)).headers.get("etag") ?? "";
  }

  async transact(
    partitionKey: string,
    writes: readonly SingleWrite[],
    signal: AbortSignal,
  ): Promise<readonly string[]> {
    const [batch, changes] = [`batch_${randomUUID()}`, `changeset_${randomUUID()}`];
    const requests = writes.map((write) =>
      writeRequest(this.#client.tableName, partitionKey, write),
    );
    const headers = {
      accept: "application/json",
      dataserviceversion: "3.0",
      "content-type": `multipart/mixed; boundary=${batch}`,
    };
    const body = batchBody(this.#url, requests, { batch, changes });
    const sent = { method: "POST", path: "/$batch", headers, body } as const;
    const answer = successOf(await this.#send(sent, signal));
    return etagsOf(answer.bodyAsText ?? "", writes.length);
  }
}
