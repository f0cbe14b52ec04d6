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

// Writes requests to a table and reads their answers. The SDK's pipeline signs and sends them: its own requests take up
// to seven times the CPU time, since it makes a client for each transaction and runs each row through it.
// The formats: https://learn.microsoft.com/rest/api/storageservices/table-service-rest-api.

/** The version that the SDK speaks. */
const SERVICE_VERSION = "2019-02-02";
const HEADERS = {
  accept: "application/json;odata=minimalmetadata",
  dataserviceversion: "3.0",
};

/** A write of one row, alone or within a transaction. */
export type SingleWrite =
  | RowWrite
  | RowPut
  /** Writes the named properties whatever was there. */
  | { readonly kind: "put_properties"; readonly row: Row }
  | { readonly kind: "delete"; readonly rowKey: string; readonly etag: string };

/** What a page of a query is asked for by. */
export interface PageQuery {
  readonly filter: string;
  readonly rows: number;
  /** Where it begins: what an earlier page said is next. */
  readonly after: string | undefined;
}

/**
 * One table as the service offers it. Every call is made once and throws a StorageRefusal for any answer but success,
 * and another error when it got none.
 */
export interface TableWire {
  /** Returns undefined when there is no such row, or no such table. */
  find(partitionKey: string, rowKey: string, signal: AbortSignal): Promise<StoredRow | undefined>;
  page(query: PageQuery, signal: AbortSignal): Promise<SelectedPage>;
  /** Returns the row's new version; "" after a delete. */
  write(partitionKey: string, write: SingleWrite, signal: AbortSignal): Promise<string>;
  /** Returns the new versions in the order of the writes. */
  transact(
    partitionKey: string,
    writes: readonly SingleWrite[],
    signal: AbortSignal,
  ): Promise<readonly string[]>;
  /** Creates the table, unless it is there. */
  create(signal: AbortSignal): Promise<void>;
}

/** A write as a request, alone or as a part of a transaction. */
interface WriteRequest {
  readonly method: HttpMethods;
  readonly path: string;
  /** The version that the row has to have, "*" for any. */
  readonly etag?: string;
  readonly body?: string;
}

/** Returns the headers of a write, which a transaction's parts have as well. */
const headersOf = ({ method, etag, body }: WriteRequest): Readonly<Record<string, string>> => ({
  ...HEADERS,
  ...(body === undefined ? {} : { "content-type": "application/json" }),
  ...(method === "POST" ? { prefer: "return-no-content" } : {}),
  ...(etag === undefined ? {} : { "if-match": etag }),
});

const linesOf = (headers: Readonly<Record<string, string>>) =>
  Object.entries(headers)
    .map(([name, value]) => `${name}: ${value}\r\n`)
    .join("");

/** Made once, since a transaction has up to a hundred of them. */
const LINES = {
  created: linesOf(headersOf({ method: "POST", path: "", body: "" })),
  written: linesOf(headersOf({ method: "PUT", path: "", body: "" })),
  deleted: linesOf(headersOf({ method: "DELETE", path: "" })),
};

function headerLines({ method, etag, body }: WriteRequest): string {
  if (method === "POST") return LINES.created;
  const lines = body === undefined ? LINES.deleted : LINES.written;
  return etag === undefined ? lines : `${lines}if-match: ${etag}\r\n`;
}

const keyText = (key: string) => encodeURIComponent(key.replaceAll("'", "''"));
const placeOf = (table: string, partitionKey: string, rowKey: string) =>
  `/${table}(PartitionKey='${keyText(partitionKey)}',RowKey='${keyText(rowKey)}')`;

/** A row as the service writes it. */
type Entity = Readonly<Record<string, unknown>>;

const NOT_COLUMNS: ReadonlySet<string> = new Set(["PartitionKey", "RowKey", "Timestamp"]);

/** Returns whether it is a column of the row; other names tell of the answer, or of another column's type. */
const isColumn = (name: string) =>
  !NOT_COLUMNS.has(name) && !name.startsWith("odata.") && !name.includes("@");

/** Returns a row as the service gives it. Left out is what has a type of its own, such as a time: we write none. */
function toStored(entity: Entity): StoredRow {
  const row: Record<string, RowValue> & { rowKey: string } = { rowKey: String(entity["RowKey"]) };
  for (const name of Object.keys(entity)) {
    const value = entity[name];
    if (!isColumn(name) || `${name}@odata.type` in entity) continue;
    if (typeof value === "string" || typeof value === "number" || typeof value === "boolean")
      row[name] = value;
  }
  return { row, etag: String(entity["odata.etag"]) };
}

const escaped = (character: string) =>
  `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;

const LINE_ENDS = /[\u2028\u2029]/g;

/**
 * Returns a row as JSON in one line, by any definition of a line: U+2028 and U+2029 are escaped, which JSON doesn't ask
 * for. The storage emulator takes them for line ends, fails in the middle of such a transaction, and then refuses every
 * later one.
 */
function bodyOf(partitionKey: string, { rowKey, ...columns }: Row): string {
  const body = JSON.stringify({ PartitionKey: partitionKey, RowKey: rowKey, ...columns });
  return body.replace(LINE_ENDS, escaped);
}

const BEYOND_ASCII = /[\u0080-\uffff]/g;

/**
 * Returns the same JSON in ASCII. The storage emulator decodes the body of a single write piece by piece as it arrives,
 * and would damage a longer character that two pieces share. It joins a transaction's pieces first; there the fewer
 * bytes of UTF-8 count, since a transaction has at most 4 MiB.
 */
const inAscii = (body: string) => body.replace(BEYOND_ASCII, escaped);

function requestOf(table: string, partitionKey: string, write: SingleWrite): WriteRequest {
  if (write.kind === "delete") {
    const etag = "etag" in write ? write.etag : "*";
    return { method: "DELETE", path: placeOf(table, partitionKey, write.rowKey), etag };
  }
  const body = bodyOf(partitionKey, write.row);
  if (write.kind === "create") return { method: "POST", path: `/${table}`, body };
  const path = placeOf(table, partitionKey, write.row.rowKey);
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

/** Throws what an answer of the service says is wrong: its words are in JSON, or in a header alone. */
function refuse(status: number, body: string, code: string | undefined): never {
  let said: { readonly code?: string; readonly message?: { readonly value?: string } } = {};
  try {
    const parsed = JSON.parse(body) as { "odata.error"?: typeof said };
    said = parsed["odata.error"] ?? {};
  } catch {
    // A gateway's page: the status says enough.
  }
  throw new StorageRefusal(said.message?.value ?? `storage answered ${status}`, {
    statusCode: status,
    code: said.code ?? code,
  });
}

function successOf(answer: PipelineResponse): PipelineResponse {
  const { status, bodyAsText, headers } = answer;
  if (status < 200 || status >= 300)
    refuse(status, bodyAsText ?? "", headers.get("x-ms-error-code"));
  return answer;
}

const jsonOf = ({ bodyAsText }: PipelineResponse): unknown => JSON.parse(bodyAsText ?? "");

/** Returns the requests of a transaction in one body (OData batch, one change set). Header lines end with CRLF. */
function batchBody(
  url: string,
  requests: readonly WriteRequest[],
  { batch, changes }: { readonly batch: string; readonly changes: string },
): Buffer {
  const parts = requests.map((request) => {
    const { method, path, body = "" } = request;
    return `--${changes}\r\nContent-Type: application/http\r\nContent-Transfer-Encoding: binary\r\n\r\n${method} ${url}${path} HTTP/1.1\r\n${headerLines(request)}\r\n${body}\r\n`;
  });
  // Encoded once: signing and sending each would.
  return Buffer.from(
    `--${batch}\r\nContent-Type: multipart/mixed; boundary=${changes}\r\n\r\n${parts.join("")}--${changes}--\r\n--${batch}--\r\n`,
  );
}

/** Returns the versions in a transaction's answer, or throws what the write that failed was told. */
function etagsOf(text: string, count: number): string[] {
  const parts = text.split("--changesetresponse_").slice(1, -1);
  const etags = parts.map((part) => {
    const status = Number(/HTTP\/1\.1 (\d{3})/.exec(part)?.[1]);
    if (!(status < 300)) {
      const body = part.slice(part.indexOf("{"), part.lastIndexOf("}") + 1);
      refuse(status, body, undefined);
    }
    return /^ETag: (.+)$/im.exec(part)?.[1] ?? "";
  });
  // Not to be taken for an applied transaction: its outcome is unknown.
  if (etags.length !== count)
    throw new Error(`storage answered ${etags.length} of ${count} writes of a transaction`);
  return etags;
}

/** Returns the position at which a query continues, in the form of the SDK: positions of long walks are kept in it. */
function continuationOf({ headers }: PipelineResponse): string | undefined {
  const nextPartitionKey = headers.get("x-ms-continuation-nextpartitionkey");
  const nextRowKey = headers.get("x-ms-continuation-nextrowkey");
  if (nextPartitionKey === undefined) return undefined;
  return Buffer.from(JSON.stringify({ nextPartitionKey, nextRowKey })).toString("base64");
}

function continuationQuery(after: string): string {
  const text = Buffer.from(after, "base64").toString();
  const { nextPartitionKey, nextRowKey } = JSON.parse(text) as {
    readonly nextPartitionKey: string;
    readonly nextRowKey?: string;
  };
  const partition = `&NextPartitionKey=${encodeURIComponent(nextPartitionKey)}`;
  return nextRowKey ? `${partition}&NextRowKey=${encodeURIComponent(nextRowKey)}` : partition;
}

/** One for all tables: it keeps the connections. */
const httpClient = createDefaultHttpClient();

/** What the SDK does with the bodies of its own requests. */
const OF_BODIES = ["serializationPolicy", "deserializationPolicy"];

interface Sendable {
  readonly method: HttpMethods;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | Buffer;
}

/** The service's own table, by the account and credentials of the client. */
export class ServiceTable implements TableWire {
  readonly #client: TableClient;
  readonly #pipeline: Pipeline;
  readonly #url: string;
  /** A shared access signature of the connection string; "" without one. */
  readonly #signature: string;

  constructor(client: TableClient) {
    this.#client = client;
    this.#pipeline = client.pipeline.clone();
    for (const name of OF_BODIES) this.#pipeline.removePolicy({ name });
    const [url = "", signature = ""] = client.url.split("?");
    this.#url = url.endsWith("/") ? url.slice(0, -1) : url;
    this.#signature = signature;
  }

  /** Sends a request and returns its answer, whatever it is. */
  #ask({ method, path, headers, body }: Sendable, signal: AbortSignal) {
    const plain = this.#url + path;
    const separator = path.includes("?") ? "&" : "?";
    const url = this.#signature === "" ? plain : plain + separator + this.#signature;
    const request = createPipelineRequest({
      url,
      method,
      headers: createHttpHeaders({ ...headers, "x-ms-version": SERVICE_VERSION }),
      ...(body === undefined ? {} : { body }),
      abortSignal: signal,
      // The client was made for such an account on purpose.
      allowInsecureConnection: url.startsWith("http:"),
    });
    return this.#pipeline.sendRequest(httpClient, request);
  }

  async #send(request: Sendable, signal: AbortSignal): Promise<PipelineResponse> {
    return successOf(await this.#ask(request, signal));
  }

  async find(partitionKey: string, rowKey: string, signal: AbortSignal) {
    const path = placeOf(this.#client.tableName, partitionKey, rowKey);
    const answer = await this.#ask({ method: "GET", path, headers: HEADERS }, signal);
    if (answer.status === 404) return undefined;
    // Safe: so the service answers a successful read, and below a query.
    return toStored(jsonOf(successOf(answer)) as Entity);
  }

  async page({ filter, rows, after }: PageQuery, signal: AbortSignal): Promise<SelectedPage> {
    const fits = filter === "" ? "" : `&$filter=${encodeURIComponent(filter)}`;
    const from = after === undefined ? "" : continuationQuery(after);
    const path = `/${this.#client.tableName}()?$top=${rows}${fits}${from}`;
    const answer = await this.#send({ method: "GET", path, headers: HEADERS }, signal);
    const { value } = jsonOf(answer) as { readonly value: readonly Entity[] };
    const found = value.map((entity) => ({
      ...toStored(entity),
      partitionKey: String(entity["PartitionKey"]),
    }));
    return { rows: found, next: continuationOf(answer) };
  }

  async write(partitionKey: string, write: SingleWrite, signal: AbortSignal): Promise<string> {
    const request = requestOf(this.#client.tableName, partitionKey, write);
    const { body } = request;
    const sent = {
      ...request,
      headers: headersOf(request),
      ...(body === undefined ? {} : { body: inAscii(body) }),
    };
    return (await this.#send(sent, signal)).headers.get("etag") ?? "";
  }

  async transact(
    partitionKey: string,
    writes: readonly SingleWrite[],
    signal: AbortSignal,
  ): Promise<readonly string[]> {
    const [batch, changes] = [`batch_${randomUUID()}`, `changeset_${randomUUID()}`];
    const requests = writes.map((write) => requestOf(this.#client.tableName, partitionKey, write));
    const headers = {
      accept: "application/json",
      dataserviceversion: "3.0",
      "content-type": `multipart/mixed; boundary=${batch}`,
    };
    const body = batchBody(this.#url, requests, { batch, changes });
    const answer = await this.#send({ method: "POST", path: "/$batch", headers, body }, signal);
    return etagsOf(answer.bodyAsText ?? "", writes.length);
  }

  create(signal: AbortSignal): Promise<void> {
    return this.#client.createTable({ abortSignal: signal });
  }
}
