import type { Clock } from "../runtime/clock.ts";
import type { Config } from "../runtime/config.ts";
import type { Log } from "../runtime/log.ts";

/** What a look at the networks themselves takes of the process. */
export interface NetworksDeps {
  readonly config: Config;
  readonly clock: Clock;
  readonly log: Log;
}
