import type { TokenCredential } from "@azure/identity";
import type { StorageAccount } from "../config.ts";
import { Queue } from "./queue.ts";
import { Table } from "./table.ts";

/** Writes are never retried by the SDK: a repeated write whose first answer was lost reports a conflict with itself. */
const tableOptions = { retryOptions: { maxRetries: 0 } };
/** The queue's client counts tries, not retries. */
const queueOptions = { retryOptions: { maxTries: 1 } };

/** One per identity for all tables and queues: each has a token of its own, and the platform gives them out slowly. */
const credentials = new Map<string | undefined, Promise<TokenCredential>>();

function credential(clientId: string | undefined): Promise<TokenCredential> {
  const known = credentials.get(clientId) ?? makeCredential(clientId);
  credentials.set(clientId, known);
  return known;
}

async function makeCredential(clientId: string | undefined): Promise<TokenCredential> {
  // Loaded only where it is used: it costs a third of the start-up time.
  const { DefaultAzureCredential, ManagedIdentityCredential } = await import("@azure/identity");
  return clientId === undefined
    ? new DefaultAzureCredential()
    : new ManagedIdentityCredential({ clientId });
}

function isInsecure(connectionString: string): boolean {
  return /UseDevelopmentStorage=true|Endpoint=http:|DefaultEndpointsProtocol=http;/i.test(
    connectionString,
  );
}

/** The tables of an account, by name; one client each. Nothing is loaded or dialled before the first call. */
export function openTable(account: StorageAccount, name: string): Table {
  return new Table(async () => {
    const { TableClient } = await import("@azure/data-tables");
    if (account.kind === "connection_string") {
      return TableClient.fromConnectionString(account.connectionString, name, {
        ...tableOptions,
        allowInsecureConnection: isInsecure(account.connectionString),
      });
    }
    const url = `https://${account.accountName}.table.core.windows.net`;
    return new TableClient(url, name, await credential(account.clientId), tableOptions);
  });
}

/** A queue of an account, by name; one client each. */
export function openQueue(account: StorageAccount, name: string): Queue {
  return new Queue(async () => {
    const { QueueClient } = await import("@azure/storage-queue");
    if (account.kind === "connection_string")
      return new QueueClient(account.connectionString, name, queueOptions);
    const url = `https://${account.accountName}.queue.core.windows.net/${name}`;
    return new QueueClient(url, await credential(account.clientId), queueOptions);
  });
}
