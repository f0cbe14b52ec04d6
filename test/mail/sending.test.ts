import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { aPlatform } from "../setup/factories.ts";
import {
  CUTS,
  startCuttingMailServer,
  type CuttingMailServer,
} from "../setup/cutting-mail-server.ts";
import { startRelay, type Relay } from "../setup/relay.ts";

let server: CuttingMailServer;
let relay: Relay;
let platformId: string;
let email: string;

beforeAll(async () => {
  server = await startCuttingMailServer();
});
afterAll(() => server.stop());

beforeEach(async () => {
  server.cut = undefined;
  server.answer = undefined;
  server.refused.clear();
  server.taken.length = 0;
  server.recipients.length = 0;
  // Its users are made without mail, so that they are verified.
  const first = await startRelay();
  const platform = await aPlatform(first);
  platformId = platform.id;
  email = platform.email;
  const settings = {
    ...first.settings,
    MAIL_URL: `smtp://relay:secret@127.0.0.1:${server.port}`,
    MAIL_FROM: "relay@example.net",
    SERVICE_NAME: "Relay",
  };
  relay = await startRelay({ sameDeploymentAs: { ...first, settings } });
});
afterEach(() => relay.stop());

const waiting = () => relay.services.background.mail.stores.mails.list(platformId);
const ask = () => relay.call("POST", "/v1/auth/reset", { body: { email } });

/** Lets time go on, as the timer and the messages do. */
async function pass(seconds: number): Promise<void> {
  relay.advance(seconds * 1_000);
  await relay.drain();
  await relay.runTimer("send-mails");
}

describe("a mail server that ends the connection", () => {
  test.each(CUTS)(
    "a server that hangs up at %s loses no mail, and gets none twice",
    async (cut) => {
      server.cut = cut;
      expect((await ask()).status).toBe(202);
      await relay.drain();
      expect(await waiting()).toHaveLength(1);
      const before = server.taken.length;
      server.cut = undefined;
      await pass(59);
      // Before the mail itself, a connection that ended has certainly brought nothing.
      const isUnknown = cut === "body" || cut === "taken";
      expect(server.taken.length).toBe(isUnknown ? before : 1);
      await pass(60);
      expect(server.taken.length).toBe(before + 1);
      const ids = server.taken.map((mail) => /^Message-ID: .*$/m.exec(mail)?.[0]);
      expect(new Set(ids).size).toBe(1);
      expect(await waiting()).toEqual([]);
      await pass(3_600);
      expect(server.taken.length).toBe(before + 1);
    },
  );
});

test("a mail server that ends the connection at QUIT has the mail, and gets it once", async () => {
  server.cut = "QUIT";
  await ask();
  await relay.drain();
  expect(await waiting()).toEqual([]);
  await pass(3_600);
  expect(server.taken).toHaveLength(1);
});

test("mails that are refused for the moment keep none of the others waiting, however many they are", async () => {
  const { mails } = relay.services.background.mail.stores;
  const now = relay.clock.now();
  for (let index = 0; index < 120; index += 1) {
    const to = `full-${index}@example.com`;
    server.refused.add(to);
    const content = { kind: "passwordChanged", to, locale: "en" } as const;
    const until = new Date(now.getTime() + 24 * 3_600_000);
    await mails.insert(platformId, [mails.rowOf(platformId, content, { now, until })]);
  }
  await ask();
  await relay.drain();
  await pass(60);
  expect(server.taken).toHaveLength(1);
  expect(await waiting()).toHaveLength(100);
});

describe("a mail server that answers", () => {
  test.each(CUTS.slice(4).filter((cut) => cut !== "body"))(
    "a server that says no for now at %s gets the mail again",
    async (cut) => {
      server.cut = cut;
      server.answer = "451 not now";
      await ask();
      await relay.drain();
      expect(await waiting()).toHaveLength(1);
      server.cut = undefined;
      await pass(5);
      await pass(60);
      expect(server.taken).toHaveLength(1);
      expect(await waiting()).toEqual([]);
    },
  );

  test.each(["RCPT", "taken"] as const)("no for good at %s does not get it again", async (cut) => {
    server.cut = cut;
    server.answer = "550 no such mailbox";
    await ask();
    await relay.drain();
    expect(await waiting()).toEqual([]);
    expect(relay.logLines.some((line) => line.includes("mail given up"))).toBe(true);
  });
});

test("a mail server that is down delays no request, and gets the mail five seconds after it is back", async () => {
  const { port } = server;
  await server.stop();
  expect((await ask()).status).toBe(202);
  await relay.drain();
  expect(await waiting()).toHaveLength(1);
  server = await startCuttingMailServer();
  // Another port: the settings of a relay don't change, so the one that waits is sent by the process started next.
  const settings = { ...relay.settings, MAIL_URL: `smtp://127.0.0.1:${server.port}` };
  const later = await startRelay({ sameDeploymentAs: { ...relay, settings } });
  expect(port).not.toBe(0);
  later.advance(10_000);
  await later.runTimer("send-mails");
  expect(server.taken).toHaveLength(1);
  await later.stop();
});

test("a mail whose link has expired is given up", async () => {
  server.cut = "greeting";
  await ask();
  await relay.drain();
  server.cut = undefined;
  await pass(60 * 60);
  expect(server.taken).toEqual([]);
  expect(await waiting()).toEqual([]);
});
