import { QueueClient } from "@azure/storage-queue";
import { TableClient, TableServiceClient } from "@azure/data-tables";
import { workers } from "../src/functions/workers.ts";
import type { Services } from "../src/shared/compose.ts";
import type { BenchStorage } from "./emulator.ts";
import { acceptAsk, succeed, type Tenant } from "./relay.ts";
import { countRequests, type RequestCounts } from "./request-counter.ts";

const ROUNDS_MAX = 20;
/** What the host does with each message: receives it and deletes it. */
const CALLS_OF_MESSAGE = 2;

/** What the messages of one kind make a worker do for one post, in all its messages. */
export interface Stage {
  readonly name: string;
  readonly messages: number;
  readonly tableRequests: number;
  readonly queueRequests: number;
  readonly transactions: number;
  readonly bytes: number;
}

interface Hint {
  readonly kind: string;
}

async function take(storage: BenchStorage, name: string): Promise<Hint[]> {
  const queue = new QueueClient(storage.queues, name);
  if (!(await queue.exists())) return [];
  const { receivedMessageItems } = await queue.receiveMessages({ numberOfMessages: 32 });
  return await Promise.all(
    receivedMessageItems.map(async ({ messageId, popReceipt, messageText }) => {
      await queue.deleteMessage(messageId, popReceipt);
      return JSON.parse(Buffer.from(messageText, "base64").toString()) as Hint;
    }),
  );
}

function stageOf(name: string, messages: number, counted: readonly RequestCounts[]): Stage {
  const sum = (of: (counts: RequestCounts) => number) =>
    counted.reduce((all, counts) => all + of(counts), 0);
  const sent = sum(({ byKind }) => byKind.send);
  return {
    name,
    messages,
    tableRequests: sum(({ total }) => total) - sent,
    queueRequests: sent + messages * CALLS_OF_MESSAGE,
    transactions: sum(({ byKind }) => byKind.transaction),
    bytes: sum(({ bytes }) => bytes),
  };
}

/** Follows one post of one leg from its acceptance until no message is left, and counts what each step asks of storage. */
export async function lifeOfPost(
  services: Services,
  storage: BenchStorage,
  tenant: Tenant,
): Promise<Stage[]> {
  const ask = acceptAsk(tenant, { platforms: ["mastodon"] });
  const accepted = await countRequests(async () => {
    await succeed(services, ask);
  });
  const counted = new Map<string, RequestCounts[]>();
  for (let round = 0; round < ROUNDS_MAX; round += 1) {
    let handled = 0;
    for (const { queue, handle } of workers)
      for (const hint of await take(storage, services.config.storage.prefix + queue)) {
        const counts = await countRequests(() => handle(services, hint));
        counted.set(hint.kind, [...(counted.get(hint.kind) ?? []), counts]);
        handled += 1;
      }
    if (handled === 0) break;
  }
  const stages = [...counted].map(([name, counts]) => stageOf(name, counts.length, counts));
  return [stageOf("accept", 0, [accepted]), ...stages];
}

const NOT_STORED: ReadonlySet<string> = new Set(["etag", "timestamp"]);

/** Rows that lie in the tables of a deployment, and how many bytes their texts take. */
export async function storedRows(
  storage: BenchStorage,
  prefix: string,
): Promise<{ readonly rows: number; readonly bytes: number }> {
  let rows = 0;
  let bytes = 0;
  const service = TableServiceClient.fromConnectionString(storage.tables, {
    allowInsecureConnection: true,
  });
  for await (const { name = "" } of service.listTables()) {
    if (!name.startsWith(prefix)) continue;
    const table = TableClient.fromConnectionString(storage.tables, name, {
      allowInsecureConnection: true,
    });
    for await (const entity of table.listEntities()) {
      rows += 1;
      for (const [property, value] of Object.entries(entity))
        // As the service charges them: UTF-16 names and texts.
        if (!NOT_STORED.has(property)) bytes += 2 * (property.length + String(value).length);
    }
  }
  return { rows, bytes };
}
