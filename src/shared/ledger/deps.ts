import type { Audit } from "../audit/audit.ts";
import type { NetworkName } from "../networks/networks.ts";
import type { Log } from "../runtime/log.ts";
import type { Cursors } from "../runtime/page.ts";
import type { Clock } from "../runtime/process.ts";
import type { Partitions } from "../partition/partition.ts";
import type { Metrics } from "../runtime/telemetry/metrics.ts";
import type { LedgerStores } from "./stores.ts";

/** A leg with tokens reserved. */
export interface OpenReservation {
  readonly postId: string;
  readonly network: NetworkName;
  readonly tokens: number;
  readonly key: string;
  readonly lastAttemptAt: string | null;
}

export interface LedgerDeps {
  readonly clock: Clock;
  readonly log: Log;
  readonly cursors: Cursors;
  readonly audit: Audit;
  findPlatform(platformId: string): Promise<{ readonly status: string } | undefined>;
  readonly partitions: Partitions;
  readonly stores: LedgerStores;
  readonly metrics: Metrics;
  /** Reads the legs with tokens reserved; undefined when there are more than `max`. */
  openReservations(
    platformId: string,
    max: number,
  ): Promise<readonly OpenReservation[] | undefined>;
}
