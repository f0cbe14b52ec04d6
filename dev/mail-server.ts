import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { SMTPServer } from "smtp-server";
import type { Mailbox } from "../sandbox/mailbox.ts";

const MAIL_BYTES_MAX = 1024 * 1024;

export interface MailServer {
  readonly port: number;
  /** What MAIL_URL is set to. */
  readonly url: string;
  stop(): Promise<void>;
}

/** Starts a mail server on loopback that keeps what it is sent. Port 0 is any free one. */
export async function startMailServer(mailbox: Mailbox, port = 0): Promise<MailServer> {
  const server = new SMTPServer({
    authOptional: true,
    // A certificate would only be in the way: nothing leaves this machine.
    disabledCommands: ["STARTTLS"],
    disableReverseLookup: true,
    size: MAIL_BYTES_MAX,
    onData(stream, session, callback) {
      const chunks: Buffer[] = [];
      stream.on("data", (chunk: Buffer) => chunks.push(chunk));
      stream.on("end", () => {
        const { mailFrom, rcptTo } = session.envelope;
        mailbox.add({
          from: mailFrom === false ? "" : mailFrom.address,
          to: rcptTo.map(({ address }) => address),
          raw: Buffer.concat(chunks),
        });
        callback();
      });
    },
  });
  // Clients that go away in the middle are their own affair.
  server.on("error", (error) => console.error("mail server:", error.message));
  server.listen(port, "127.0.0.1");
  await once(server.server, "listening");
  const { port: listening } = server.server.address() as AddressInfo;
  return {
    port: listening,
    url: `smtp://127.0.0.1:${listening}`,
    stop: () => new Promise((resolve) => server.close(() => resolve())),
  };
}
