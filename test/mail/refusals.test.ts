import { describe, expect, test } from "vitest";
import { meaningOf, RULES } from "../../src/shared/mail/refusals.ts";
import { greetingName, type MailFailure, type SmtpStep } from "../../src/shared/mail/transport.ts";
import { runWalks } from "../setup/walks.ts";
import { countOf, startTroubled, type Troubled } from "./troubled.ts";

function failure(step: SmtpStep, answer: string): MailFailure {
  const [, status, enhanced] = /^(\d{3})[ -](?:([245]\.\d+\.\d+)(?!\d))?/.exec(answer) ?? [];
  return {
    step,
    answer,
    ...(status !== undefined && { status: Number(status) }),
    ...(enhanced !== undefined && { enhanced }),
  };
}

describe("what a refusal is about", () => {
  test.each([
    ["connect", "connect ECONNREFUSED", "all"],
    ["greeting", "554 5.7.1 no service for you", "all"],
    ["greeting", "no answer within 300 seconds", "all"],
    ["EHLO", "421-4.7.0 Try again later, closing connection. (EHLO)", "all"],
    ["STARTTLS", "454 4.7.0 TLS not available due to local problem", "all"],
    ["AUTH", "535 5.7.8 authentication failed", "all"],
    ["AUTH", "451 Authentication failed: Maximum credits exceeded", "all"],
    ["AUTH", "432 4.3.2 Concurrent connections limit exceeded", "all"],
    ["MAIL", "530 5.7.57 Client not authenticated to send mail", "all"],
    ["MAIL", "550 5.1.8 Access denied, bad outbound sender", "all"],
    ["MAIL", "552 5.3.4 Message size exceeds fixed limit", "unclear"],
    ["RCPT", "550 5.1.1 User unknown", "mail"],
    ["RCPT", "550 5.1.1 The account of this user was suspended", "mail"],
    ["RCPT", "550 no such mailbox", "mail"],
    ["RCPT", "552 5.2.2 Mailbox is over quota", "mail"],
    ["RCPT", "452 4.2.2 Mailbox is over quota", "later"],
    ["RCPT", "552 Requested mail action aborted: exceeded storage allocation", "mail"],
    ["RCPT", "550 5.4.1 Recipient address rejected: Access denied", "mail"],
    ["RCPT", "450 4.7.1 Greylisted, try again in five minutes", "later"],
    ["RCPT", "450 try again later", "later"],
    ["RCPT", "550 5.1.90 you've reached your daily limit for message recipients", "all"],
    ["RCPT", "550 5.4.5 Daily user sending limit exceeded.", "all"],
    ["RCPT", "530 Authentication required", "all"],
    ["RCPT", "553 5.7.1 Sender address rejected: not owned by user relay", "all"],
    ["RCPT", "554 5.7.1 <reader@example.com>: Relay access denied", "unclear"],
    ["RCPT", "550 relay not permitted", "unclear"],
    ["RCPT", "550 5.7.1 Client host blocked using Spamhaus", "unclear"],
    ["RCPT", "550 5.7.606 Access denied, banned sending IP", "all"],
    ["RCPT", "Connection closed unexpectedly", "unclear"],
    ["DATA", "554 5.7.0 too bad", "unclear"],
    ["mail", "550 5.4.5 Daily user sending limit exceeded.", "all"],
    [
      "mail",
      "554 5.7.0 The limit on the number of allowed outgoing messages was exceeded. Try again later.",
      "all",
    ],
    ["mail", "454 Throttling failure: Daily message quota exceeded", "all"],
    ["mail", "554 Message rejected: Email address is not verified.", "all"],
    ["mail", "550 The from address does not match a verified Sender Identity", "all"],
    ["mail", "403 You are not authorized to send from that email address", "all"],
    ["mail", "550 5.7.26 Unauthenticated email is not accepted", "all"],
    ["mail", "554 5.2.252 SendAsDenied; relay not allowed to send as", "all"],
    ["mail", "550 5.7.705 Access denied, tenant has exceeded threshold", "all"],
    ["mail", "550 Domain example.net is disabled", "all"],
    ["mail", "554 5.6.0 Invalid message content", "mail"],
    ["mail", "550 no such mailbox", "mail"],
    ["mail", "554 Transaction failed", "unclear"],
    ["mail", "451 4.3.0 Temporary lookup failure", "unclear"],
  ] as const)("at %s, %j is about: %s", (step, answer, meaning) => {
    expect(meaningOf(failure(step, answer))).toBe(meaning);
  });

  test("has a source for each rule", () => {
    for (const { source } of RULES) expect(source).toMatch(/RFC|\d{3}/);
  });
});

/** Refusals that every mail meets, at the step where the server says them. */
const FOR_ALL = [
  ["greeting", "554 5.7.1 no service for you"],
  ["EHLO", "421-4.7.0 Try again later, closing connection. (EHLO)\r\n421 4.7.0 bye"],
  ["AUTH", "535 5.7.8 authentication failed"],
  ["MAIL", "550 5.1.8 Access denied, bad outbound sender"],
  ["RCPT", "550 5.1.90 you've reached your daily limit for message recipients"],
  ["RCPT", "554 5.7.1 Relay access denied"],
  ["DATA", "554 5.7.0 not now"],
  ["taken", "550 5.4.5 Daily user sending limit exceeded."],
  ["taken", "554 5.7.0 The limit on the number of allowed outgoing messages was exceeded."],
  ["taken", "454 Throttling failure"],
] as const;

const logIns = ({ server }: Troubled) => countOf(server.said, "AUTH");
const readiness = async ({ relay }: Troubled) =>
  (await relay.call("GET", "/ready")).body.data.mail as unknown;

describe("a refusal that every mail meets", () => {
  test.each(FOR_ALL)("at %s, %j stops all mails and loses none", async (cut, answer) => {
    const troubled = await startTroubled();
    const { server, relay } = troubled;
    server.cut = cut;
    server.answer = answer;
    expect(await readiness(troubled)).toBe("ok");
    const readers = await troubled.post(15);
    await troubled.pass(30 * 60);
    const tried = server.said.filter((line) => line.startsWith("EHLO")).length;
    // The mails that were under way together, then one in growing pauses.
    if (cut !== "greeting") expect(tried).toBeGreaterThan(3);
    expect(tried).toBeLessThan(30);
    expect(await readiness(troubled)).toBe("failing");
    const calls = relay.logLines.filter((line) => line.includes("the mail server refuses every"));
    expect(calls.length).toBeGreaterThan(10);
    // Two days later it is repaired, and the next mail that is tried brings all of them.
    await troubled.pass(3_600);
    relay.advance(2 * 24 * 3_600_000);
    server.cut = undefined;
    server.answer = undefined;
    await troubled.pass(60);
    const copies = troubled.copies();
    expect(readers.map((reader) => copies.get(reader))).toEqual(readers.map(() => 1));
    expect(await troubled.waiting()).toEqual([]);
    expect(await readiness(troubled)).toBe("ok");
    expect(countOf(relay.logLines, "mail given up")).toBe(0);
    await troubled.stop();
  });

  test("costs few logins, however many mails wait and come", async () => {
    const troubled = await startTroubled();
    troubled.server.cut = "AUTH";
    troubled.server.answer = "535 5.7.8 authentication failed";
    await troubled.post(15);
    const first = logIns(troubled);
    expect(first).toBeLessThanOrEqual(16);
    for (let minute = 0; minute < 20; minute += 1) {
      await troubled.post(2);
      await troubled.pass(60);
    }
    expect(logIns(troubled) - first).toBeLessThan(12);
    await troubled.stop();
  });

  test("is known to all instances: one tries a mail, the others none", async () => {
    const troubled = await startTroubled();
    const { server, relay } = troubled;
    server.cut = "AUTH";
    server.answer = "535 5.7.8 authentication failed";
    await troubled.post(4);
    const before = logIns(troubled);
    const others = Array.from({ length: 7 }, () => relay.another());
    for (const other of others) await runWalks(other, "send-mails");
    expect(logIns(troubled)).toBe(before);
    relay.advance(6_000);
    await Promise.all(others.map((other) => runWalks(other, "send-mails")));
    expect(logIns(troubled)).toBe(before + 1);
    expect(await others[3]?.tenants.mail.serverState()).toBe("failing");
    await troubled.stop();
  });

  test("ends with a mail whose link has expired given up, and the others sent", async () => {
    const troubled = await startTroubled();
    troubled.server.cut = "MAIL";
    troubled.server.answer = "451 4.3.0 not now";
    await troubled.post(2);
    troubled.relay.advance(4 * 24 * 3_600_000);
    const [late = ""] = await troubled.post(1);
    troubled.server.cut = undefined;
    await troubled.pass(20 * 60);
    expect([...troubled.copies().keys()]).toEqual([late]);
    expect(countOf(troubled.relay.logLines, '"reason":"expired"')).toBe(2);
    expect(await troubled.waiting()).toEqual([]);
    await troubled.stop();
  });
});

test("a mail that is always refused for an unclear reason stops no other mail", async () => {
  const troubled = await startTroubled();
  const { server, relay } = troubled;
  const poison = "reader-1@example.com";
  server.judge = (step, text) =>
    step === "taken" && text.includes(poison) ? "554 5.7.1 not this one" : undefined;
  await troubled.post(1);
  for (let minute = 0; minute < 60; minute += 1) {
    const before = server.taken.length;
    await troubled.post(1);
    expect(server.taken.length).toBe(before + 1);
    await troubled.pass(60);
  }
  expect(await troubled.waiting()).toEqual([poison]);
  expect(countOf(relay.logLines, "no mail is sent for now")).toBe(0);
  server.judge = undefined;
  await troubled.pass(16 * 60);
  expect(await troubled.waiting()).toEqual([]);
  await troubled.stop();
});

test("mails that are refused for an unclear reason and stop all don't keep the others from being tried", async () => {
  const troubled = await startTroubled();
  const { server } = troubled;
  server.judge = (step, text) =>
    step === "taken" && /reader-[12]@/.test(text) ? "554 5.7.1 not this one" : undefined;
  await troubled.post(2);
  expect(await readiness(troubled)).toBe("failing");
  const others = await troubled.post(10);
  await troubled.pass(20 * 60);
  const copies = troubled.copies();
  expect(others.map((reader) => copies.get(reader))).toEqual(others.map(() => 1));
  expect(await troubled.waiting()).toHaveLength(2);
  await troubled.stop();
});

describe("the name that the relay greets mail servers with", () => {
  test.each([
    ["https://relay.example.net/api", "relay.example.net"],
    ["https://203.0.113.7/api", "[203.0.113.7]"],
    ["https://[2001:db8::7]/api", "[IPv6:2001:db8::7]"],
    ["http://localhost:7071/api", "mail.example.org"],
    ["http://127.0.0.1:7071/api", "mail.example.org"],
    ["http://[::1]:7071/api", "mail.example.org"],
  ])("is for %s %s", (publicBaseUrl, name) => {
    expect(greetingName(publicBaseUrl, "relay@mail.example.org")).toBe(name);
  });

  test.each(["http://relay.example.net/api", "http://127.0.0.1:7071/api", "http://localhost/api"])(
    "is taken by a server that refuses the loopback address and names without a dot, for %s",
    async (url) => {
      const troubled = await startTroubled({ settings: { PUBLIC_BASE_URL: url } });
      troubled.server.refusesName = (name) => !name.includes(".") || name === "[127.0.0.1]";
      await troubled.post(1);
      expect(troubled.server.taken).toHaveLength(1);
      await troubled.stop();
    },
  );
});
