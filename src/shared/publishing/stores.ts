import { HintQueue, type MessageQueue } from "../runtime/storage/queue.ts";
import type { Tables } from "../runtime/storage/tables.ts";
import type { Partitions } from "../partition/partition.ts";
import { AccountQueueStore } from "./accounts/account-queue-store.ts";
import { AccountStore } from "./accounts/account-store.ts";
import { IdempotencyStore } from "./idempotency-store.ts";
import type { PublishingHint } from "./post-queue.ts";
import { PostIndexStore } from "./post-index-store.ts";
import { PostStore } from "./post-store.ts";
import { TimelineStore } from "./timeline-store.ts";

export type PublishingStores = ReturnType<typeof createPublishingStores>;

/** Creates the stores of posts and network accounts, and the queue of posts to publish. */
export function createPublishingStores(
  { core, accounts, timeline }: Tables,
  queue: MessageQueue,
  partitions: Partitions,
) {
  return {
    partitions,
    posts: new PostStore(core),
    postIndex: new PostIndexStore(core),
    idempotency: new IdempotencyStore(core),
    timeline: new TimelineStore(timeline),
    networkAccounts: new AccountStore(accounts),
    /** One leg at a time for every network account. */
    accountQueues: new AccountQueueStore(accounts),
    publishQueue: new HintQueue<PublishingHint>(queue),
  };
}
