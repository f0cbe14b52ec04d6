import type { Config } from "../config/config.ts";
import type { Log } from "../runtime/log.ts";
import type { Clock } from "../runtime/process.ts";
import type { Wakes } from "../wake/wake.ts";
import type { MailCountStore } from "./mail-count-store.ts";
import type { Locale } from "../runtime/locale.ts";
import type { MailStore } from "./mail-store.ts";
import type { NoticeStore } from "./notice-store.ts";
import type { Transport } from "./transport.ts";

/** An owner of a platform, with a verified e-mail. */
interface OwnerToTell {
  readonly id: string;
  readonly email: string;
  readonly locale: Locale;
}

interface MailStores {
  readonly mails: MailStore;
  readonly notices: NoticeStore;
  readonly counts: MailCountStore;
}

/** What mail needs of the process. */
export interface MailDeps {
  readonly config: Config;
  readonly clock: Clock;
  readonly log: Log;
  /** What is to be looked at, and when. */
  readonly wakes: Wakes;
  /** Lists the owners of a platform who are told what happened, as many as get a mail in one transaction. */
  readonly owners: (platformId: string) => Promise<readonly OwnerToTell[]>;
  readonly stores: MailStores;
  readonly transport: Transport;
  /** Has the walk that sends mails run, after a delay. Never throws: the timer runs it too. */
  readonly askForWalk: (delaySeconds: number) => Promise<void>;
}
