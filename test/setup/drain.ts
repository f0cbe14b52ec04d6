import { QueueServiceClient } from "@azure/storage-queue";
import type { Worker } from "../../src/shared/host/worker.ts";
import type { Services } from "../../src/shared/compose.ts";

const MESSAGES_MAX = 5_000;
const BATCH = 32;

function clientOf(services: Services): QueueServiceClient {
  const account = services.config.storage.host;
  if (account.kind !== "connection_string") throw new Error("tests use a connection string");
  return QueueServiceClient.fromConnectionString(account.connectionString);
}

async function drainOne(
  worker: Worker,
  services: Services,
  service: QueueServiceClient,
): Promise<number> {
  const queue = service.getQueueClient(services.config.storage.prefix + worker.queue);
  if (!(await queue.exists())) return 0;
  const { receivedMessageItems } = await queue.receiveMessages({ numberOfMessages: BATCH });
  await Promise.all(
    receivedMessageItems.map(async ({ messageId, popReceipt, messageText }) => {
      await queue.deleteMessage(messageId, popReceipt);
      const message: unknown = JSON.parse(Buffer.from(messageText, "base64").toString());
      await worker.handle(services, message);
    }),
  );
  return receivedMessageItems.length;
}

/** Hands every visible message to its worker, as the host does, until no queue has one left. Workers' errors surface. */
export async function drainQueues(workers: readonly Worker[], services: Services): Promise<number> {
  const service = clientOf(services);
  let total = 0;
  while (total < MESSAGES_MAX) {
    let handled = 0;
    for (const worker of workers) handled += await drainOne(worker, services, service);
    if (handled === 0) return total;
    total += handled;
  }
  throw new Error(`the queues did not run dry after ${total} messages`);
}
