import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { entryKey, ledgerRow, WALLET_KEY, walletRow } from "../../src/shared/ledger/wallet-row.ts";
import { exampleId, idBefore } from "../../src/shared/runtime/ids.ts";

/** The time of the first entry. Each one is a second later. */
const START = Date.parse("2026-03-01T00:00:00.000Z");
export const timeOf = (sequence: number) => new Date(START + sequence * 1_000).toISOString();

const ACCOUNT = "devstoreaccount1";
const FIRST_KEY = entryKey(0);

/** An entry as they are in production: all of its ids, and a note now and then. */
function entryOf(sequence: number) {
  const createdAt = timeOf(sequence);
  const ulid = `${idBefore("ledgerEntry", Date.parse(createdAt))}${String(sequence).padStart(16, "0")}`;
  const { v: _, ...columns } = ledgerRow.encode({
    id: ulid,
    type: sequence % 2 === 0 ? "settle" : "reserve",
    operation: "publish_leg",
    tokens: sequence % 2 === 0 ? -10 : 20,
    sequence,
    balanceAfter: 1_000_000 + sequence,
    reservedAfter: 20,
    postId: exampleId("post", sequence % 90),
    network: "instagram",
    applicationId: exampleId("application"),
    profileId: exampleId("profile", sequence % 90),
    actorKind: "api_key",
    actorId: exampleId("key"),
    requestId: exampleId("request", sequence % 90),
    note: sequence % 10 === 0 ? "Invoice 2026-0042, paid by the customer in advance" : null,
    createdAt,
    legs: null,
  });
  return { v: 1, ...columns };
}

const entity = (rowKey: string, columns: object) => ({
  "odata.etag": "W/\"datetime'2026-03-04T10%3A00%3A00.0000000Z'\"",
  PartitionKey: "plt_0",
  RowKey: rowKey,
  Timestamp: "2026-03-04T10:00:00.0000000Z",
  ...columns,
});

/** Returns the number of the entry with this key. */
const sequenceOf = (rowKey: string) =>
  Number(BigInt(FIRST_KEY.slice(2)) - BigInt(rowKey.slice(2).padEnd(16, "9")));

export interface LedgerService {
  readonly connectionString: string;
  /** How many requests it had. */
  readonly requests: () => number;
  close(): Promise<void>;
}

/** Serves a ledger of so many entries as the table service does, without storing any. */
export async function serveLedger(entries: number): Promise<LedgerService> {
  let requests = 0;
  const wallet = walletRow.encode({
    balance: 1_000_000,
    reserved: 0,
    sequence: entries,
    dailyBudget: null,
    budgetChangedAt: null,
    day: "2026-03-01",
    daySpent: 0,
    paceUntil: null,
    lowAt: null,
    isCredited: true,
  });
  const answerTo = (address: string): object => {
    const url = new URL(address, "http://127.0.0.1");
    const rowKey = /RowKey='([^']+)'\)/.exec(decodeURIComponent(url.pathname))?.[1];
    if (rowKey === WALLET_KEY) return entity(rowKey, wallet);
    if (rowKey !== undefined) return entity(rowKey, entryOf(sequenceOf(rowKey)));
    const filter = url.searchParams.get("$filter") ?? "";
    const bound = (operator: string) =>
      sequenceOf(new RegExp(`RowKey ${operator} '([^']+)'`).exec(filter)?.[1] ?? FIRST_KEY);
    const top = Number(url.searchParams.get("$top"));
    const value = [];
    for (let at = bound("ge"); at > bound("lt") && value.length < top; at -= 1)
      value.push(entity(entryKey(at), entryOf(at)));
    return { value };
  };
  const server: Server = createServer((request, response) => {
    requests += 1;
    const body = JSON.stringify(answerTo(request.url ?? ""));
    response.writeHead(200, { "content-type": "application/json" }).end(body);
  });
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  // Safe: it listens on a port.
  const { port } = server.address() as AddressInfo;
  const endpoint = `http://127.0.0.1:${port}/${ACCOUNT}`;
  const key = Buffer.from("a key that nobody checks").toString("base64");
  return {
    connectionString: `DefaultEndpointsProtocol=http;AccountName=${ACCOUNT};AccountKey=${key};TableEndpoint=${endpoint};QueueEndpoint=${endpoint};BlobEndpoint=${endpoint};`,
    requests: () => requests,
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
