import type { Clock } from "../runtime/process.ts";
import type { Log } from "../runtime/log.ts";
import type { Wakes } from "./wake-store.ts";

export interface WakeDeps {
  readonly clock: Clock;
  readonly log: Log;
  readonly wakes: Wakes;
}
