import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { SMTPServer } from "smtp-server";
import { expect, test } from "vitest";
import { createTransport } from "../../src/shared/mail/transport.ts";

const MESSAGE = {
  to: "ann@example.com",
  subject: "Hello",
  text: "Hello",
  html: "<p>Hello</p>",
  messageId: "<1@example.net>",
  date: new Date("2026-03-04T11:12:13Z"),
  headers: {},
};

/** Starts a server that offers both ways to log in and takes those that are named. */
async function startServer(taken: readonly string[]) {
  const tried: string[] = [];
  const server = new SMTPServer({
    authMethods: ["PLAIN", "LOGIN"],
    hideSTARTTLS: true,
    allowInsecureAuth: true,
    onAuth({ method, password }, _session, answer) {
      tried.push(`${method} ${password ?? ""}`);
      if (taken.includes(method)) return answer(null, { user: "relay" });
      answer(Object.assign(new Error("5.7.8 Login fail"), { responseCode: 535 }));
    },
    onData(stream, _session, answer) {
      stream.resume().on("end", () => answer());
    },
  });
  server.listen(0, "127.0.0.1");
  await once(server.server, "listening");
  const { port } = server.server.address() as AddressInfo;
  const where = { host: "127.0.0.1", port, isSecure: false, needsTls: false };
  const mail = {
    ...where,
    user: "relay",
    password: "p+s/s",
    from: "relay@example.net",
    name: "Relay",
  };
  const transport = createTransport({ mail, publicBaseUrl: "https://relay.example.net/api" });
  const stop = () => new Promise<void>((done) => server.close(() => done()));
  return { tried, transport, stop };
}

test("logs in by LOGIN where PLAIN is offered and refused, and from then on at the first try", async () => {
  const { tried, transport, stop } = await startServer(["LOGIN"]);
  expect(await transport.send(MESSAGE)).toEqual({ kind: "accepted" });
  expect(await transport.send(MESSAGE)).toEqual({ kind: "accepted" });
  expect(tried).toEqual(["PLAIN p+s/s", "LOGIN p+s/s", "LOGIN p+s/s"]);
  await stop();
});

test("a wrong password is refused with the first answer, and nothing is learned from it", async () => {
  const { tried, transport, stop } = await startServer([]);
  const refused = { step: "AUTH", status: 535 };
  expect(await transport.send(MESSAGE)).toMatchObject({ kind: "failed", failure: refused });
  expect(await transport.send(MESSAGE)).toMatchObject({ kind: "failed", failure: refused });
  expect(tried.map((line) => line.split(" ")[0])).toEqual(["PLAIN", "LOGIN", "PLAIN", "LOGIN"]);
  await stop();
});

test("logs in once where PLAIN is taken", async () => {
  const { tried, transport, stop } = await startServer(["PLAIN", "LOGIN"]);
  expect(await transport.send(MESSAGE)).toEqual({ kind: "accepted" });
  expect(tried).toEqual(["PLAIN p+s/s"]);
  await stop();
});
