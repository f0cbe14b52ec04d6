import type { StoragePipelineOptions } from "@azure/storage-queue";
import { QueueServiceClient } from "@azure/storage-queue";
import type { Connection } from "./settings.ts";

/** Short, because the listener has its own way of waiting for a storage that is away. */
const OPTIONS: StoragePipelineOptions = {
  retryOptions: {
    maxTries: 3,
    retryDelayInMs: 200,
    maxRetryDelayInMs: 1_000,
    tryTimeoutInMs: 15_000,
  },
};

export async function openQueues(connection: Connection): Promise<QueueServiceClient> {
  if (connection.kind === "connectionString")
    return QueueServiceClient.fromConnectionString(connection.value, OPTIONS);
  // Loaded only here: it takes longer to load than everything else, and a developer's machine rarely needs it.
  const { DefaultAzureCredential } = await import("@azure/identity");
  return new QueueServiceClient(connection.queueServiceUri, new DefaultAzureCredential(), OPTIONS);
}

/** Whether a storage call failed because the message or its queue is not ours, or not there, any more. */
export function isGone(error: unknown): boolean {
  const { statusCode, code } = error as { statusCode?: number; code?: string };
  return (
    statusCode === 404 ||
    code === "PopReceiptMismatch" ||
    code === "QueueBeingDeleted" ||
    code === "QueueDisabled"
  );
}
