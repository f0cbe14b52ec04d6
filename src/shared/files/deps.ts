import type { Audit } from "../audit/audit.ts";
import type { Config } from "../config/config.ts";
import type { Partitions } from "../partition/partition.ts";
import type { Log } from "../runtime/log.ts";
import type { Cursors } from "../runtime/page.ts";
import type { Clock } from "../runtime/process.ts";
import type { Wakes } from "../wake/wake.ts";
import type { FileStores } from "./stores.ts";

export interface FilesDeps {
  readonly config: Config;
  readonly clock: Clock;
  readonly log: Log;
  readonly audit: Audit;
  readonly cursors: Cursors;
  readonly wakes: Wakes;
  readonly partitions: Partitions;
  readonly stores: FileStores;
}
