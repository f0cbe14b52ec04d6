import { TableClient } from "@azure/data-tables";
import { QueueClient } from "@azure/storage-queue";
import type { BenchStorage } from "./emulator.ts";

/** The rows that one accepted post writes: those it creates, and those that every accept of the platform writes again. */
export interface PostRows {
  readonly created: readonly Entity[];
  readonly rewritten: readonly Entity[];
  readonly message: string;
}

export interface Entity {
  readonly rowKey: string;
  readonly [property: string]: string | number | boolean;
}

/** One transaction and one queue message, with nothing of the product around them. */
export type StoreBare = (partitionKey: string, index: number) => Promise<void>;

export interface BareClients {
  readonly table: TableClient;
  readonly queue: QueueClient;
}

/** The SDK's clients with the product's own options. */
export function openClients(
  storage: BenchStorage,
  names: { table: string; queue: string },
): BareClients {
  return {
    table: TableClient.fromConnectionString(storage.tables, names.table, {
      allowInsecureConnection: true,
      retryOptions: { maxRetries: 0 },
    }),
    queue: new QueueClient(storage.queues, names.queue, { retryOptions: { maxTries: 1 } }),
  };
}

/** The platform's head row and its wallet. */
const REWRITTEN = 2;

/** Properties that storage itself adds. */
const OWN_PROPERTIES: ReadonlySet<string> = new Set(["etag", "timestamp", "partitionKey"]);

async function readPartition(table: TableClient, partitionKey: string) {
  const entities = new Map<string, { readonly etag: string; readonly entity: Entity }>();
  const filter = `PartitionKey eq '${partitionKey}'`;
  for await (const found of table.listEntities({
    queryOptions: { filter },
  })) {
    const properties = Object.entries(found).filter(([name]) => !OWN_PROPERTIES.has(name));
    const entity = Object.fromEntries(properties) as unknown as Entity;
    entities.set(entity.rowKey, { etag: found.etag, entity });
  }
  return entities;
}

/** What `accept` writes into the platform's partition, found out by looking before and after. */
export async function rowsOfPost(
  clients: BareClients,
  platformId: string,
  accept: () => Promise<void>,
): Promise<PostRows> {
  const before = await readPartition(clients.table, platformId);
  await accept();
  const after = await readPartition(clients.table, platformId);
  const created: Entity[] = [];
  const rewritten: Entity[] = [];
  for (const [rowKey, { etag, entity }] of after) {
    const earlier = before.get(rowKey);
    if (earlier === undefined) created.push(entity);
    else if (earlier.etag !== etag) rewritten.push(entity);
  }
  const { receivedMessageItems } = await clients.queue.receiveMessages();
  const [message] = receivedMessageItems;
  if (message === undefined || created.length === 0 || rewritten.length !== REWRITTEN)
    throw new Error("an accepted post left other rows than expected");
  return { created, rewritten, message: message.messageText };
}

/** The rows of the `index`th post: the same size, keys of its own. */
export function rowsAt({ created }: PostRows, index: number): Entity[] {
  return created.map((entity) => ({ ...entity, rowKey: `${entity.rowKey}|${index}` }));
}
