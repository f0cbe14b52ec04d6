import { startMailServer, type MailServer } from "../../dev/mail-server.ts";
import { Mailbox, type ReadMail } from "../../sandbox/mailbox.ts";
import { startRelay, type Relay, type RelayOptions } from "./relay.ts";

/** A relay with a mail server of its own. */
export interface MailedRelay {
  readonly relay: Relay;
  readonly mailbox: Mailbox;
  readonly server: MailServer;
  /** Has waiting mails sent, and returns those to an address, oldest first. */
  mailsTo(email: string): Promise<readonly ReadMail[]>;
  stop(): Promise<void>;
}

const FROM = "relay@example.net";

export async function startMailedRelay(options: RelayOptions = {}): Promise<MailedRelay> {
  const mailbox = new Mailbox();
  const server = await startMailServer(mailbox);
  const settings = { MAIL_URL: server.url, MAIL_FROM: FROM, ...options.settings };
  const relay = await startRelay({ ...options, settings });
  return {
    relay,
    mailbox,
    server,
    async mailsTo(email) {
      await relay.drain();
      return await mailbox.list(email);
    },
    async stop() {
      await relay.stop();
      await server.stop();
    },
  };
}

/** Returns the token of the one-time link in a mail. */
export function tokenIn(mail: ReadMail | undefined): string {
  const token = new URL(mail?.links[0] ?? "http://none").searchParams.get("token");
  if (token === null) throw new Error("the mail has no link");
  return token;
}
