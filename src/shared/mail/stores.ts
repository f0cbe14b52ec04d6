import type { Commit } from "../partition/partition.ts";
import type { Tables } from "../runtime/storage/tables.ts";
import type { MailDeps } from "./deps.ts";
import { MailCountStore } from "./mail-count-store.ts";
import { MailStore } from "./mail-store.ts";
import { NoticeStore } from "./notice-store.ts";
import { MailSender } from "./mail-sender.ts";
import { MailServerStore } from "./mail-server-store.ts";
import { createTransport, MAIL_LIMITS, type MailLimits } from "./transport.ts";
import type { Stop } from "../runtime/process.ts";

/** How long a run of the walk waits for a mail that is being sent. */
const WATCHED_MS = 3_000;

/** What the process gives to mail, apart from its settings. */
interface MailProcess {
  readonly commit: Commit;
  readonly stop: Stop;
  /** Time limits of a test. */
  readonly limits?: MailLimits | undefined;
}

/** Creates the stores of mail and the client of the mail server. Opens no connection. */
export function createMail(
  deps: Omit<MailDeps, "stores" | "sender">,
  { core, emails, housekeeping }: Tables,
  { commit, stop, limits = MAIL_LIMITS }: MailProcess,
): MailDeps {
  const mails = new MailStore(core, deps.config.identity.dataKeys);
  return {
    ...deps,
    stores: {
      mails,
      notices: new NoticeStore(core, commit),
      counts: new MailCountStore(emails),
    },
    sender: new MailSender({
      ...deps,
      stop,
      mails,
      server: new MailServerStore(housekeeping),
      transport: createTransport(deps.config, limits),
      watchedMs: Math.min(WATCHED_MS, limits.step),
    }),
  };
}
