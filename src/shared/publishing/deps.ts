import type { Audit } from "../audit/audit.ts";
import type { chargeTogether } from "../ledger/ledger.ts";
import type { Config } from "../config/config.ts";
import type { ConnectionsDeps } from "../connections/connections.ts";
import type { FilesDeps } from "../files/files.ts";
import type { WorkShares } from "../limits/limits.ts";
import type { Verb } from "../runtime/bound.ts";
import type { AppError } from "../runtime/errors.ts";
import type { Log } from "../runtime/log.ts";
import type { Cursors } from "../runtime/page.ts";
import type { Clock, Stop } from "../runtime/process.ts";
import type { Metrics } from "../runtime/telemetry/metrics.ts";
import type { Wakes } from "../wake/wake.ts";
import type { WebhooksDeps } from "../webhooks/webhooks.ts";
import type { UnmappedSignals } from "./publish/unmapped-signals.ts";
import type { PublishingStores } from "./stores.ts";

export interface PublishingDeps {
  readonly config: Config;
  readonly clock: Clock;
  readonly log: Log;
  readonly audit: Audit;
  readonly cursors: Cursors;
  readonly wakes: Wakes;
  readonly ledger: {
    readonly chargeTogether: Verb<typeof chargeTogether>;
    /** Reports once a day that the daily budget refused something. */
    readonly noteRefusal: (platformId: string, refusal: Pick<AppError, "code">) => Promise<void>;
  };
  readonly webhooks: WebhooksDeps;
  readonly connections: ConnectionsDeps;
  readonly files: FilesDeps;
  readonly tenants: Pick<
    ConnectionsDeps["tenants"],
    "findPlatform" | "findApplication" | "findProfile"
  >;
  readonly stores: PublishingStores;
  readonly work: PublishingWork;
}

/** Running work of this process for posts. */
interface PublishingWork {
  readonly metrics: Metrics;
  /** Set once the process is about to end. */
  readonly stop: Stop;
  readonly unmappedSignals: UnmappedSignals;
  /** Each platform's share of the posts that are being published. */
  readonly publishShares: WorkShares;
}
