import type { BillingDeps } from "../billing/billing.ts";
import type { Config } from "../config/config.ts";
import type { WaitingRequests, WorkShares } from "../limits/limits.ts";
import type { Names } from "../runtime/names.ts";
import type { RecentMap } from "../runtime/recent-map.ts";
import type { Outbound } from "../runtime/outbound.ts";
import type { Stop } from "../runtime/process.ts";
import type { Metrics } from "../runtime/telemetry/metrics.ts";
import type { Wakes } from "../wake/wake.ts";
import type { DeadDeliveryStore } from "./deliveries/dead-delivery-store.ts";
import type { DeliveryStore } from "./deliveries/delivery-store.ts";
import type { PendingStore } from "./deliveries/pending-store.ts";
import type { EndpointHealthStore } from "./endpoints/endpoint-health-store.ts";
import type { EndpointStore } from "./endpoints/endpoint-store.ts";
import type { EventStore } from "../events/events.ts";
import type { FanOutQueue, Rerun, WebhookQueue } from "./hint-queue.ts";

/** A delivery as the timeline of its post shows it. */
export interface WebhookStep {
  readonly at: string;
  readonly step: "webhook_sent";
  readonly platform: null;
  readonly attempt: number;
  readonly outcome: string;
  readonly durationMs: number;
  readonly networkStatus: number | null;
  readonly networkCode: null;
  readonly note: string;
}

/** What events and their deliveries need of the process. */
export interface WebhooksDeps extends BillingDeps {
  readonly config: Config;
  /** What is to be looked at, and when. */
  readonly wakes: Wakes;
  readonly metrics: Metrics;
  readonly outbound: Outbound;
  readonly names: Names;
  /** Requests that wait for servers that customers chose. */
  readonly waits: WaitingRequests;
  /** Each platform's share of the drains under way, and that of walks, whose messages come by the same queue. */
  readonly drainShares: WorkShares;
  /** The platforms of endpoints that were delivered to lately. */
  readonly endpointOwners: RecentMap<string>;
  readonly applications: {
    listIds(platformId: string): Promise<readonly string[]>;
  };
  /** What happened to a post, for people to read. */
  readonly timeline: {
    append(postId: string, run: string, steps: readonly WebhookStep[]): Promise<void>;
  };
  readonly events: EventStore;
  readonly endpoints: EndpointStore;
  readonly endpointHealth: EndpointHealthStore;
  readonly deliveries: DeliveryStore;
  readonly pending: PendingStore;
  readonly deadDeliveries: DeadDeliveryStore;
  readonly fanOutQueue: FanOutQueue;
  readonly webhookQueue: WebhookQueue;
  /** Fan-outs that are under way in this process. */
  readonly fanOuts: Rerun;
  /** Endpoints to which this process is delivering. */
  readonly drains: Rerun;
  /** Set once the process is about to end. */
  readonly stop: Stop;
}
