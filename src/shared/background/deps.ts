import type { LedgerDeps } from "../ledger/ledger.ts";
import type { Config } from "../config/config.ts";
import type { ConnectionsDeps } from "../connections/connections.ts";
import type { MailDeps } from "../mail/mail.ts";
import type { PublishingDeps } from "../publishing/publishing.ts";
import type { WorkShares } from "../limits/limits.ts";
import type { Log } from "../runtime/log.ts";
import type { Clock, Stop } from "../runtime/process.ts";
import type { Metrics } from "../runtime/telemetry/metrics.ts";
import type { ErasureDeps } from "../erasure/erasure.ts";
import type { PeopleDeps } from "../people/people.ts";
import type { TenantsDeps } from "../tenants/tenants.ts";
import type { WebhooksDeps } from "../webhooks/webhooks.ts";
import type { BackgroundStores } from "./stores.ts";

interface BackgroundWork {
  readonly metrics: Metrics;
  readonly stop: Stop;
  /** Bounds the walks under way. */
  readonly walkShares: WorkShares;
}

export interface BackgroundDeps {
  readonly config: Config;
  readonly clock: Clock;
  readonly log: Log;
  readonly stores: BackgroundStores;
  readonly work: BackgroundWork;
  readonly ledger: LedgerDeps;
  readonly webhooks: WebhooksDeps;
  readonly connections: ConnectionsDeps;
  readonly publishing: PublishingDeps;
  readonly mail: MailDeps;
  readonly tenants: TenantsDeps;
  readonly people: PeopleDeps;
  readonly erasure: ErasureDeps;
}
