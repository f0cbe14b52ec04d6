import { once } from "node:events";
import type { AddressInfo } from "node:net";
import tls from "node:tls";
import { SMTPServer } from "smtp-server";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { createTransport } from "../../src/shared/mail/transport.ts";
import { startCuttingMailServer } from "../setup/cutting-mail-server.ts";
import { LOCALHOST_CERTIFICATE, LOCALHOST_KEY } from "../setup/localhost-certificate.ts";

/* What a production relay says to a mail server before the connection is encrypted, and to one that it can't know. */

const trusted = tls.getCACertificates("default");
/** Has this process trust the certificate of the tests. */
const trust = () => tls.setDefaultCACertificates([...trusted, LOCALHOST_CERTIFICATE]);
const trustNobody = () => tls.setDefaultCACertificates([...trusted]);
beforeEach(trust);
afterEach(trustNobody);

const servers: SMTPServer[] = [];
const ports = new Map<boolean, number>();
/** The logins that a server was offered, and the mails that it took. */
const seen: string[] = [];

async function start(secure: boolean): Promise<void> {
  const server = new SMTPServer({
    secure,
    key: LOCALHOST_KEY,
    cert: LOCALHOST_CERTIFICATE,
    disableReverseLookup: true,
    onAuth({ username, password }, { secure: isEncrypted }, callback) {
      seen.push(`${username}:${password} ${isEncrypted ? "encrypted" : "in the open"}`);
      callback(null, { user: username });
    },
    onData(stream, _session, callback) {
      stream.on("end", () => {
        seen.push("mail");
        callback();
      });
      stream.resume();
    },
  });
  // Those who end the handshake.
  server.on("error", () => undefined);
  servers.push(server);
  server.listen(0, "127.0.0.1");
  await once(server.server, "listening");
  ports.set(secure, (server.server.address() as AddressInfo).port);
}

beforeAll(async () => {
  await start(false);
  await start(true);
});
afterAll(async () => {
  for (const server of servers) await new Promise<void>((done) => server.close(() => done()));
});
beforeEach(() => {
  seen.length = 0;
});

/** For a server that never begins to encrypt, and is silent. */
const HASTY = { connect: 150, step: 150, acceptance: 400 };

const send = (port: number, isSecure: boolean, limits?: typeof HASTY) =>
  createTransport(
    {
      mail: {
        host: "localhost",
        port,
        isSecure,
        needsTls: true,
        user: "relay",
        password: "secret",
        from: "relay@example.net",
        name: "Relay",
      },
      publicBaseUrl: "https://relay.example.net",
    },
    limits,
  ).send({
    to: "reader@example.com",
    subject: "A subject",
    text: "A text",
    html: "<p>A text</p>",
    messageId: "<one@example.net>",
    date: new Date(0),
    headers: {},
  });

test.each([
  ["STARTTLS", false],
  ["the first byte", true],
])("a server that encrypts from %s gets login and mail, both encrypted", async (_when, secure) => {
  expect(await send(ports.get(secure) ?? 0, secure)).toEqual({ kind: "accepted" });
  expect(seen).toEqual(["relay:secret encrypted", "mail"]);
});

test.each([
  ["STARTTLS", false],
  ["the first byte", true],
])(
  "a server with a certificate that nobody trusts gets neither, with %s",
  async (_when, secure) => {
    trustNobody();
    expect((await send(ports.get(secure) ?? 0, secure)).kind).not.toBe("accepted");
    expect(seen).toEqual([]);
  },
);

test.each([undefined, "502 no such command", "220 go on, in the open"])(
  "a server that does not encrypt, whatever it says (%s), gets neither",
  async (answer) => {
    const server = await startCuttingMailServer();
    if (answer !== undefined) Object.assign(server, { cut: "STARTTLS", answer });
    expect((await send(server.port, false, HASTY)).kind).not.toBe("accepted");
    expect(server.said.filter((line) => /^(AUTH|MAIL|RCPT|DATA)/i.test(line))).toEqual([]);
    await server.stop();
  },
);
