import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { createTransport, type Transport } from "../../src/shared/mail/transport.ts";
import {
  CUTS,
  startCuttingMailServer,
  type CuttingMailServer,
  type Endless,
} from "../setup/cutting-mail-server.ts";

let server: CuttingMailServer;
/** One with limits that a test can wait for, and one as it is. */
let hasty: Transport;
let patient: Transport;

beforeAll(async () => {
  server = await startCuttingMailServer();
  const publicBaseUrl = "https://relay.example.net";
  const mail = {
    host: "127.0.0.1",
    port: server.port,
    isSecure: false,
    needsTls: false,
    user: "relay",
    password: "secret",
    from: "relay@example.net",
    name: "Relay",
  };
  hasty = createTransport({ mail, publicBaseUrl }, { connect: 150, step: 150, acceptance: 400 });
  patient = createTransport({ mail, publicBaseUrl });
});
afterAll(() => server.stop());

beforeEach(() => {
  server.answer = undefined;
  server.endless = undefined;
  server.taken.length = 0;
});

const send = (by: Transport) =>
  by.send({
    to: "reader@example.com",
    subject: "A subject",
    text: "A text",
    html: "<p>A text</p>",
    messageId: "<one@example.net>",
    date: new Date(0),
    headers: {},
  });

const STEPS = CUTS.filter((cut) => cut !== "connect");

test.each(STEPS)("a server that says nothing at %s is given up", async (cut) => {
  server.cut = cut;
  server.answer = "";
  expect(["unknown", "failed"]).toContain((await send(hasty)).kind);
});

/** What the library keeps of one answer, twice, and what the system's buffers take beside it. */
const BYTES_MAX = 16 * 1024 * 1024;

test.each(
  STEPS.flatMap((cut) =>
    (["line", "lines", "answers", "drops"] as const).map((endless) => [endless, cut] as const),
  ),
)("a server that sends %s without end at %s is given up", async (endless: Endless, cut) => {
  server.cut = cut;
  server.endless = endless;
  const { kind } = await send(hasty);
  // A whole answer that comes in time is an answer.
  const isAnswer = endless === "answers";
  expect(isAnswer ? ["accepted", "unknown", "failed"] : ["unknown", "failed"]).toContain(kind);
  await expect.poll(() => server.bytesSaid).toBeGreaterThan(0);
  expect(server.bytesSaid).toBeLessThan(BYTES_MAX);
});

test("what a server answers is kept in part alone", async () => {
  server.cut = "RCPT";
  server.answer = `550 ${"no ".repeat(200_000)}`;
  const outcome = await send(patient);
  expect(outcome).toMatchObject({ kind: "failed", failure: { step: "RCPT", status: 550 } });
  expect(JSON.stringify(outcome).length).toBeLessThan(2_000);
});

test("a server that takes every mail gets the next one", async () => {
  server.cut = undefined;
  expect((await send(patient)).kind).toBe("accepted");
  expect(server.taken).toHaveLength(1);
});
