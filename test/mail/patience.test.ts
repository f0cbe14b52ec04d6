import { setImmediate } from "node:timers/promises";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { createTransport } from "../../src/shared/mail/transport.ts";
import { startCuttingMailServer, type CuttingMailServer } from "../setup/cutting-mail-server.ts";

const MINUTE_MS = 60_000;

let server: CuttingMailServer;
beforeEach(async () => {
  server = await startCuttingMailServer();
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
});
afterEach(async () => {
  vi.useRealTimers();
  await server.stop();
});

/** Lets what is on the wire arrive until `isThere`. */
async function arrival(isThere: () => boolean): Promise<void> {
  for (let turn = 0; turn < 100_000 && !isThere(); turn += 1) await setImmediate();
  expect(isThere()).toBe(true);
}

// How long a client has to wait at least (RFC 5321, 4.5.3.2).
test.each([
  ["greeting", 5],
  ["EHLO", 5],
  ["AUTH", 5],
  ["MAIL", 5],
  ["RCPT", 5],
  ["DATA", 2],
  ["taken", 10],
] as const)(
  "a server may take as long at %s as the standard lets it: %d minutes",
  async (step, minutes) => {
    const transport = createTransport({
      publicBaseUrl: "https://relay.example.net",
      mail: {
        host: "127.0.0.1",
        port: server.port,
        isSecure: false,
        needsTls: false,
        user: "relay",
        password: "secret",
        from: "relay@example.net",
        name: "Relay",
      },
    });
    server.cut = step;
    server.delayMs = minutes * MINUTE_MS - 1;
    let ended: string | undefined;
    const sending = transport
      .send({
        to: "reader@example.com",
        subject: "A subject",
        text: "A text",
        html: "<p>A text</p>",
        messageId: "<one@example.net>",
        date: new Date(0),
        headers: {},
      })
      .then(({ kind }) => (ended = kind));
    await arrival(() => server.late > 0);
    vi.advanceTimersByTime(server.delayMs);
    await arrival(() => ended !== undefined);
    expect(await sending).toBe("accepted");
    expect(server.taken).toHaveLength(1);
  },
);
