import type { Audit } from "../audit/audit.ts";
import type { Config } from "../config/config.ts";
import type { WorkShares } from "../limits/limits.ts";
import type { Mail } from "../mail/mail.ts";
import type { Log } from "../runtime/log.ts";
import type { Outbound } from "../runtime/outbound.ts";
import type { Cursors } from "../runtime/page.ts";
import type { Clock, Stop } from "../runtime/process.ts";
import type { RecentMap } from "../runtime/recent-map.ts";
import type { Metrics } from "../runtime/telemetry/metrics.ts";
import type { Wakes } from "../wake/wake.ts";
import type { LookUps } from "./endpoints/endpoint.ts";
import type { Rerun } from "./hint-queue.ts";
import type { WebhookStores } from "./stores.ts";

/** A delivery as its post's timeline shows it. */
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
  readonly webhookId: string;
  readonly deliveryId: string;
}

export interface WebhooksDeps {
  readonly config: Config;
  readonly clock: Clock;
  readonly log: Log;
  readonly audit: Audit;
  readonly cursors: Cursors;
  readonly calls: LookUps & { readonly outbound: Outbound };
  /** The index of work that is due. */
  readonly wakes: Wakes;
  listApplicationIds(platformId: string): Promise<readonly string[]>;
  /** Adds to what happened to a post, for people to read. */
  appendTimeline(postId: string, run: string, steps: readonly WebhookStep[]): Promise<void>;
  /** What tells a platform's owners of what went wrong. */
  readonly mail: Pick<Mail, "writeAndTell">;
  readonly stores: WebhookStores;
  readonly work: WebhookWork;
}

/** Running work of this process for webhooks. */
interface WebhookWork {
  readonly metrics: Metrics;
  /** Set once the process is about to end. */
  readonly stop: Stop;
  /** Fan-outs that are running in this process. */
  readonly fanOuts: Rerun;
  /** Endpoints to which this process is delivering. */
  readonly drains: Rerun;
  /** Each platform's share of the drains under way. */
  readonly drainShares: WorkShares;
  /** The platforms of endpoints that got deliveries recently. */
  readonly endpointOwners: RecentMap<string>;
}
