import type { Clock } from "../runtime/process.ts";
import type { Log } from "../runtime/log.ts";

/** What looking for due work takes of the process. */
export interface DueDeps {
  readonly clock: Clock;
  readonly log: Log;
}
