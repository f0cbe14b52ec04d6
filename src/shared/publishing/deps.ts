import type { ConnectionsDeps } from "../connections/connections.ts";
import type { WorkShares } from "../limits/limits.ts";
import type { Stop } from "../runtime/process.ts";
import type { TimelineStore } from "./timeline-store.ts";
import type { AccountStore } from "./accounts/account-store.ts";
import type { AccountQueueStore } from "./accounts/account-queue-store.ts";
import type { IdempotencyStore } from "./idempotency-store.ts";
import type { PostStore } from "./post-store.ts";
import type { UnmappedSignals } from "./publish/unmapped-signals.ts";
import type { PublishingQueue } from "./post-queue.ts";

export interface PublishingDeps extends ConnectionsDeps {
  readonly stop: Stop;
  readonly posts: PostStore;
  readonly timeline: TimelineStore;
  readonly networkAccounts: AccountStore;
  readonly idempotency: IdempotencyStore;
  /** One leg at a time for every real account. */
  readonly accountQueues: AccountQueueStore;
  readonly unmappedSignals: UnmappedSignals;
  readonly publishQueue: PublishingQueue;
  /** Each platform's share of the posts that are being published. */
  readonly publishShares: WorkShares;
}
