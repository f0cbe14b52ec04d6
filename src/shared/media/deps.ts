import type { Clock } from "../runtime/process.ts";
import type { Config } from "../config/config.ts";
import type { Log } from "../runtime/log.ts";
import type { Outbound } from "../runtime/outbound.ts";

export interface MediaDeps {
  readonly config: Config;
  readonly clock: Clock;
  readonly log: Log;
  readonly outbound: Outbound;
}
