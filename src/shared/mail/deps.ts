import type { Config } from "../config/config.ts";
import type { Log } from "../runtime/log.ts";
import type { Clock } from "../runtime/process.ts";
import type { Wakes } from "../wake/wake.ts";
import type { MailCountStore } from "./mail-count-store.ts";
import type { MailStore } from "./mail-store.ts";
import type { Transport } from "./transport.ts";

/** What mail needs of the process. */
export interface MailDeps {
  readonly config: Config;
  readonly clock: Clock;
  readonly log: Log;
  /** What is to be looked at, and when. */
  readonly wakes: Wakes;
  readonly stores: { readonly mails: MailStore; readonly counts: MailCountStore };
  readonly transport: Transport;
  /** Has the walk that sends mails run, after a delay. Never throws: the timer runs it too. */
  readonly askForWalk: (delaySeconds: number) => Promise<void>;
}
