import type { Commit } from "../core/core.ts";
import type { Tables } from "../runtime/storage/tables.ts";
import type { MailDeps } from "./deps.ts";
import { MailCountStore } from "./mail-count-store.ts";
import { MailStore } from "./mail-store.ts";
import { NoticeStore } from "./notice-store.ts";
import { createTransport } from "./transport.ts";

/** Creates the stores of mail and the client of the mail server. Opens no connection. */
export function createMail(
  deps: Omit<MailDeps, "stores" | "transport">,
  { core, emails }: Tables,
  commit: Commit,
): MailDeps {
  const { dataKeys } = deps.config.identity;
  return {
    ...deps,
    stores: {
      mails: new MailStore(core, dataKeys),
      notices: new NoticeStore(core, commit),
      counts: new MailCountStore(emails),
    },
    transport: createTransport(deps.config, () => deps.clock.now().getTime()),
  };
}
