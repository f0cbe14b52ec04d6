import type { Config } from "../config/config.ts";
import type { Log } from "../runtime/log.ts";
import type { Clock } from "../runtime/process.ts";
import type { Wakes } from "../wake/wake.ts";
import type { MailCountStore } from "./mail-count-store.ts";
import type { Locale } from "../runtime/locale.ts";
import type { MailValues } from "./mail-content.ts";
import type { MailStore } from "./mail-store.ts";
import type { NoticeStore } from "./notice-store.ts";
import type { Metrics } from "../runtime/telemetry/metrics.ts";
import type { MailSender } from "./mail-sender.ts";

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

export interface MailDeps {
  readonly config: Config;
  readonly clock: Clock;
  readonly log: Log;
  /** The index of work that is due. */
  readonly wakes: Wakes;
  /** Lists the owners who get a platform's notices, at most as many as fit into one transaction. */
  readonly owners: (platformId: string) => Promise<readonly OwnerToTell[]>;
  /** Returns what people call the things that an item of a notice names by their ids, where they still exist. */
  readonly namesOf: (platformId: string, item: MailValues) => Promise<MailValues>;
  readonly stores: MailStores;
  readonly metrics: Metrics;
  readonly sender: MailSender;
  /** Starts the walk that sends mails after a delay. Never throws, because the timer starts the walk too. */
  readonly askForWalk: (delaySeconds: number) => Promise<void>;
}
