import { isIP } from "node:net";
import { describe, expect, test } from "vitest";
import { anApplication, dataOf, type TestApplication } from "../setup/factories.ts";
import { startRelay } from "../setup/relay.ts";
import { startReceiver, status } from "./receiver.ts";
import { deliveriesOf, happen } from "./subscriber.ts";
import { forFile } from "../setup/for-file.ts";

/** Where each name leads, if one is looked up. */
const INSIDE = "10.1.2.3";
const asked: string[] = [];
const names = {
  resolve(host: string) {
    asked.push(host);
    return Promise.resolve([{ address: INSIDE, family: isIP(INSIDE) }]);
  },
  texts: () => Promise.resolve([]),
};
/** The ranges hold more than the one address that may be an endpoint. */
const HTTPS_ONLY = "must be an https URL: http://localhost is accepted in a local run only";
const CREDENTIALS =
  "must not carry a user name or a password: leave them out, and verify the signature of each delivery";
const settings = { OUTBOUND_ALLOW_CIDRS: "127.0.0.0/8,10.0.0.0/8,::1/128" };

describe("an endpoint on a developer's machine", () => {
  const receiver = forFile(() => startReceiver());
  const relay = forFile(() => startRelay({ settings, names }));

  const create = ({ key }: TestApplication, url: string, by = relay) =>
    by.call("POST", "/v1/webhooks", { key, body: { url } });
  const local = (path: string, host = "localhost") => `http://${host}:${receiver.port}${path}`;

  test.each(["localhost", "127.0.0.1", "LOCALHOST"])(
    "takes plain http to %s and gets its deliveries there, without a look-up",
    async (host) => {
      const application = await anApplication(relay);
      const path = `/by/${host}`;
      const url = local(path, host);
      const { id, secret, url: stored } = dataOf(await create(application, url));
      expect(stored).toBe(url.toLowerCase().replace(path.toLowerCase(), path));
      await happen(relay, application);
      await relay.drain();
      const [received] = receiver.received(path);
      expect(received?.headers.host).toBe(`${host.toLowerCase()}:${receiver.port}`);
      const [delivery] = await deliveriesOf(relay, { id, secret, path, application });
      expect(delivery).toMatchObject({ status: "succeeded", attempts: 1 });
      expect(asked).toEqual([]);
    },
  );

  test("an endpoint can be changed to an address on a developer's machine", async () => {
    const application = await anApplication(relay);
    const { key } = application;
    const { id } = dataOf(await create(application, local("/before")));
    const url = local("/after");
    const answer = await relay.call("PATCH", `/v1/webhooks/${id}`, { key, body: { url } });
    expect(dataOf(answer).url).toBe(url);
  });

  test.each([
    ["http://127.0.0.2:3000/", HTTPS_ONLY],
    ["http://10.1.2.3:3000/", HTTPS_ONLY],
    ["http://[::1]:3000/", HTTPS_ONLY],
    ["http://[::ffff:127.0.0.1]:3000/", HTTPS_ONLY],
    ["http://localhost.:3000/", HTTPS_ONLY],
    ["http://app.localhost:3000/", HTTPS_ONLY],
    ["http://hooks.example.com:3000/", HTTPS_ONLY],
    ["http://localhost:25/", HTTPS_ONLY],
    ["http://localhost:6000/", HTTPS_ONLY],
    ["http://user@localhost:3000/", CREDENTIALS],
    ["http://:secret@127.0.0.1:3000/", CREDENTIALS],
    ["ftp://localhost:3000/", "must be an https URL"],
    ["https://localhost:3000/", "must lead to a public host name"],
    ["https://127.0.0.1:3000/", "must lead to a public address"],
    ["http://localhost:3000/#part", "must not have a fragment (#…): no server gets to see it"],
  ])("an endpoint at %s is refused", async (url, reason) => {
    const answer = await create(await anApplication(relay), url);
    expect(answer.status).toBe(400);
    expect(answer.body.error.details.issues).toMatchObject([{ message: `"url" ${reason}.` }]);
  });

  test.each([
    ["without the setting", ""],
    ["where the setting has another address", "10.0.0.0/8,127.0.0.2/32"],
  ])("a developer's endpoint is refused and not dialled, %s", async (_, ranges) => {
    const other = await startRelay({ settings: { OUTBOUND_ALLOW_CIDRS: ranges }, names });
    const application = await anApplication(other);
    const { key } = application;
    for (const host of ["localhost", "127.0.0.1"]) {
      const answer = await create(application, local("/refused", host), other);
      expect(answer.status).toBe(400);
    }
    const path = "/registered-before";
    const { id, secret } = dataOf(
      await other.call("POST", "/v1/webhooks", { key, body: { url: "https://1.1.1.1/" } }),
    );
    const at = other.clock.now().toISOString();
    await other.services.webhooks.stores.endpoints.update(
      application.platform.id,
      id,
      { url: local(path) },
      at,
    );
    await happen(other, application);
    await other.drain();
    const [delivery] = await deliveriesOf(other, { id, secret, path, application });
    expect(delivery).toMatchObject({ status: "pending", lastError: "blocked_address" });
    expect(receiver.received(path)).toEqual([]);
    await other.stop();
  });

  test("a redirect does not lead an endpoint on a developer's machine elsewhere", async () => {
    const application = await anApplication(relay);
    const [path, target] = ["/redirects", "/target"];
    receiver.behave(path, status(307, { location: local(target) }));
    const { id, secret } = dataOf(await create(application, local(path)));
    await happen(relay, application);
    await relay.drain();
    const [delivery] = await deliveriesOf(relay, { id, secret, path, application });
    expect(delivery).toMatchObject({ status: "pending", lastError: "http_307" });
    expect(receiver.received(target)).toEqual([]);
  });

  test("an endpoint on a developer's machine belongs to its tenant alone", async () => {
    const [owner, stranger] = [await anApplication(relay), await anApplication(relay)];
    const path = "/of-one-tenant";
    const { id } = dataOf(await create(owner, local(path)));
    await happen(relay, stranger);
    await relay.drain();
    expect(receiver.received(path)).toEqual([]);
    const body = { url: local("/stolen") };
    const { key } = stranger;
    const answer = await relay.call("PATCH", `/v1/webhooks/${id}`, { key, body });
    expect(answer.status).toBe(404);
  });
});
