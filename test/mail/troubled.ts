import { startCuttingMailServer, type CuttingMailServer } from "../setup/cutting-mail-server.ts";
import { startRelay, type Relay, type RelayOptions } from "../setup/relay.ts";

/** A relay whose mail server is in trouble, and mails that wait in it. */
export interface Troubled {
  readonly server: CuttingMailServer;
  readonly relay: Relay;
  /** Writes mails to readers of one platform each and has them sent. Returns the readers. */
  post(count: number): Promise<readonly string[]>;
  /** Returns the addresses of the readers who wait. */
  waiting(): Promise<readonly string[]>;
  /** Lets time go on, as the timer and the messages do. */
  pass(seconds: number): Promise<void>;
  /** How often each reader got the mail, by the mails that the server took. */
  copies(): ReadonlyMap<string, number>;
  stop(): Promise<void>;
}

const PLATFORMS = 3;
const STEP_SECONDS = 60;

export const countOf = (lines: readonly string[], text: string) =>
  lines.filter((line) => line.includes(text)).length;

export async function startTroubled(options: RelayOptions = {}): Promise<Troubled> {
  const server = await startCuttingMailServer();
  const settings = {
    MAIL_URL: `smtp://relay:secret@127.0.0.1:${server.port}`,
    MAIL_FROM: "relay@example.net",
    PUBLIC_BASE_URL: "http://relay.example.net/api",
    SERVICE_NAME: "Relay",
    ...options.settings,
  };
  const relay = await startRelay({ ...options, settings });
  const platforms = Array.from({ length: PLATFORMS }, (_, index) => `platform-${index}`);
  let readers = 0;
  const { mail } = relay.services.background;
  return {
    server,
    relay,
    async post(count) {
      const posted: string[] = [];
      for (let index = 0; index < count; index += 1) {
        const to = `reader-${(readers += 1)}@example.com`;
        posted.push(to);
        const platformId = platforms[readers % PLATFORMS] ?? "";
        const now = relay.clock.now();
        const until = new Date(now.getTime() + 3 * 24 * 3_600_000);
        const content = { kind: "passwordChanged", to, locale: "en" } as const;
        const row = mail.stores.mails.rowOf(platformId, content, { now, until });
        await mail.wakes.mark("mail", platformId, now);
        await mail.stores.mails.insert(platformId, [row]);
        await mail.askForWalk(0);
      }
      await relay.drain();
      return posted;
    },
    async waiting() {
      const found = await Promise.all(platforms.map((id) => mail.stores.mails.list(id)));
      return found.flat().map(({ content }) => content?.to ?? "");
    },
    async pass(seconds) {
      for (let left = seconds; left > 0; left -= STEP_SECONDS) {
        relay.advance(Math.min(left, STEP_SECONDS) * 1_000);
        await relay.drain();
        await relay.runTimer("send-mails");
        await relay.drain();
      }
    },
    copies() {
      const copies = new Map<string, number>();
      for (const text of server.taken) {
        const [, to = ""] = /^To: <?([^>\r\n]*)/m.exec(text) ?? [];
        copies.set(to, (copies.get(to) ?? 0) + 1);
      }
      return copies;
    },
    async stop() {
      await relay.stop();
      await server.stop();
    },
  };
}
