import { setImmediate } from "node:timers/promises";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { createTransport } from "../../src/shared/mail/transport.ts";
import { startCuttingMailServer, type CuttingMailServer } from "../setup/cutting-mail-server.ts";

let server: CuttingMailServer;
beforeEach(async () => {
  server = await startCuttingMailServer();
});
afterEach(async () => {
  vi.useRealTimers();
  await server.stop();
});

const MESSAGE = {
  to: "reader@example.com",
  subject: "A subject",
  text: "A text",
  html: "<p>A text</p>",
  messageId: "<one@example.net>",
  date: new Date(0),
  headers: {},
};

const transportTo = ({ port }: CuttingMailServer) =>
  createTransport({
    publicBaseUrl: "https://relay.example.net",
    mail: {
      host: "127.0.0.1",
      port,
      isSecure: false,
      needsTls: false,
      user: "relay",
      password: "secret",
      from: "relay@example.net",
      name: "Relay",
    },
  });

const send = () => transportTo(server).send(MESSAGE);

test("a connection ends with QUIT after a mail was taken", async () => {
  expect(await send()).toEqual({ kind: "accepted" });
  await expect.poll(() => server.said.at(-1)).toBe("QUIT");
});

test.each([
  ["AUTH", "535 5.7.8 wrong"],
  ["MAIL", "550 5.7.1 not you"],
  ["RCPT", "550 5.1.1 nobody of this name"],
  ["DATA", "554 5.7.1 no"],
  ["taken", "552 5.3.4 too long"],
] as const)("a connection ends with QUIT after a refusal at %s", async (cut, answer) => {
  server.cut = cut;
  server.answer = answer;
  expect(await send()).toMatchObject({ kind: "failed", failure: { answer } });
  await expect.poll(() => server.said.at(-1)).toBe("QUIT");
  expect(server.said.filter((line) => line === "QUIT")).toHaveLength(1);
});

test("connections whose QUIT is not answered are few, however many mails are sent", async () => {
  server.cut = "QUIT";
  server.answer = "";
  const transport = transportTo(server);
  // No time passes, so nothing but their number ends connections.
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  for (let mail = 0; mail < 40; mail += 1)
    expect(await transport.send(MESSAGE)).toEqual({ kind: "accepted" });
  for (let turn = 0; turn < 100_000 && server.connections > 16; turn += 1) await setImmediate();
  expect(server.connections).toBe(16);
});

test("a mail is sent even if its QUIT is never answered, and the connection ends after five seconds", async () => {
  server.cut = "QUIT";
  server.answer = "";
  expect(await send()).toEqual({ kind: "accepted" });
  await expect.poll(() => server.said.at(-1)).toBe("QUIT");
  expect(server.connections).toBe(1);
  await expect.poll(() => server.connections, { timeout: 15_000 }).toBe(0);
});
