import type { Audit } from "../audit/audit.ts";
import type { BackgroundDeps } from "../background/background.ts";
import type { LedgerDeps } from "../ledger/ledger.ts";
import type { Operators } from "../callers/tokens.ts";
import type { Config } from "../config/config.ts";
import type { ConnectionsDeps } from "../connections/connections.ts";
import type { PublishingDeps } from "../publishing/publishing.ts";
import type { Partitions } from "../partition/partition.ts";
import type { Log } from "../runtime/log.ts";
import type { Clock } from "../runtime/process.ts";
import type { FairLimit } from "../runtime/fair-limit.ts";
import type { ErasureDeps } from "../erasure/erasure.ts";
import type { PeopleDeps } from "../people/people.ts";
import type { TenantsDeps } from "../tenants/tenants.ts";
import type { WebhooksDeps } from "../webhooks/webhooks.ts";
import type { ReadinessParts } from "./check-readiness.ts";
import type { AccessCache } from "./access/access-cache.ts";

/** What routes, workers and timers need: the parts of requests, and each module's dependencies. */
export interface HttpDeps {
  readonly config: Config;
  readonly clock: Clock;
  readonly log: Log;
  readonly audit: Audit;
  readonly access: AccessParts;
  readonly readiness: ReadinessParts;
  readonly ledger: LedgerDeps;
  readonly webhooks: WebhooksDeps;
  readonly connections: ConnectionsDeps;
  readonly publishing: PublishingDeps;
  readonly tenants: TenantsDeps;
  readonly people: PeopleDeps;
  readonly erasure: ErasureDeps;
  readonly background: BackgroundDeps;
}

interface AccessParts {
  /** The access versions of platforms. */
  readonly partitions: Partitions;
  readonly operators: Operators;
  /** Rows against which recent requests were checked. */
  readonly accessCache: AccessCache;
  /** Limits the work on hints that came in the message of another one. The host only counts messages. */
  readonly companions: FairLimit;
}
