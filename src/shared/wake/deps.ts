import type { Clock } from "../runtime/process.ts";
import type { Log } from "../runtime/log.ts";
import type { WakeStore } from "./wake-store.ts";

/** What the wake index takes of the process. */
export interface WakeDeps {
  readonly clock: Clock;
  readonly log: Log;
  /** What is to be looked at, and when. */
  readonly wakes: WakeStore;
}
