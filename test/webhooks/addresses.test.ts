import type { LookupAddress } from "node:dns";
import { createServer as createHttpsServer, type Server as HttpsServer } from "node:https";
import { createServer, isIP, type AddressInfo, type Server } from "node:net";
import { getCACertificates, setDefaultCACertificates } from "node:tls";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { anApplication, dataOf, type TestApplication } from "../setup/factories.ts";
import { startRelay, type Relay } from "../setup/relay.ts";
import { makeCertificate, type Certificate } from "./certificates.ts";
import { deliveriesOf, happen, type TestEndpoint } from "./subscriber.ts";
import { enqueueDueDeliveries } from "../setup/walks.ts";

/** What each name resolves to, look-up after look-up; the last answer stays. */
const names = {
  answers: new Map<string, (readonly string[])[]>(),
  asked: [] as string[],
  resolve(host: string): Promise<LookupAddress[]> {
    const answers = names.answers.get(host);
    if (answers === undefined) return Promise.resolve([]);
    names.asked.push(host);
    const found = (answers.length > 1 ? answers.shift() : answers[0]) ?? [];
    return Promise.resolve(found.map((address) => ({ address, family: isIP(address) })));
  },
  texts: () => Promise.resolve([]),
};

const MINUTE = 60_000;
const PUBLIC = "1.1.1.1";
/** What the settings of a test let stand for a public address. */
const STAND_IN = "127.0.0.1";
const ENDPOINTS_MAX = 20;
let count = 0;

/** An endpoint at an address of its own, whether or not it could be registered with it. */
async function endpointAt(
  relay: Relay,
  application: TestApplication,
  url: string,
): Promise<TestEndpoint> {
  const body = { url: "https://hooks.receivers.example.com/" };
  const { id, secret } = dataOf(
    await relay.call("POST", "/v1/webhooks", { key: application.key, body }),
  );
  const at = relay.clock.now().toISOString();
  await relay.services.webhooks.stores.endpoints.update(application.platform.id, id, { url }, at);
  return { id, secret, path: "", application };
}

const newName = () => `n${(count += 1)}.receivers.example.com`;

const listening = async (server: Server | HttpsServer): Promise<number> => {
  await new Promise<void>((resolve) => server.listen(0, "0.0.0.0", resolve));
  return (server.address() as AddressInfo).port;
};
const closed = (server: Server | HttpsServer) => new Promise((resolve) => server.close(resolve));

const RESOLVED: readonly (readonly string[])[] = [
  ["0.0.0.0"],
  ["10.0.0.5"],
  ["100.64.0.1"],
  ["100.100.100.200"],
  ["127.0.0.1"],
  ["127.0.0.2"],
  ["127.255.255.254"],
  ["168.63.129.16"],
  ["169.254.169.254"],
  ["169.254.170.2"],
  ["172.16.0.1"],
  ["172.31.255.255"],
  ["192.0.0.192"],
  ["192.0.2.1"],
  ["192.88.99.1"],
  ["192.168.1.1"],
  ["198.18.0.1"],
  ["198.51.100.7"],
  ["203.0.113.9"],
  ["224.0.0.1"],
  ["240.0.0.1"],
  ["255.255.255.255"],
  ["::"],
  ["::1"],
  ["::127.0.0.1"],
  ["::ffff:127.0.0.1"],
  ["::ffff:7f00:1"],
  ["::ffff:169.254.169.254"],
  ["::ffff:a83f:8110"],
  ["0:0:0:0:0:ffff:7f00:1"],
  ["::ffff:0:127.0.0.1"],
  ["64:ff9b::127.0.0.1"],
  ["64:ff9b::a9fe:a9fe"],
  ["64:ff9b:1::7f00:1"],
  ["100::1"],
  ["2001::1"],
  ["2001:0:4136:e378:8000:63bf:80ff:fffe"],
  ["2001:db8::1"],
  ["2002:7f00:1::"],
  ["2002:a9fe:a9fe::1"],
  ["3fff::1"],
  ["fc00::1"],
  ["fd00:ec2::254"],
  ["fe80::1"],
  ["fec0::1"],
  ["ff02::1"],
  [PUBLIC, "127.0.0.1"],
  ["127.0.0.1", PUBLIC],
  [PUBLIC, "::1"],
  ["2606:4700:4700::1111", "::ffff:10.0.0.1"],
];

const WRITTEN = [
  "127.0.0.1",
  "127.1",
  "0x7f.1",
  "0x7f000001",
  "0177.0.0.1",
  "017700000001",
  "2130706433",
  "①②⑦.0.0.1",
  "127。0。0。1",
  "127.0.0.1.",
  "0",
  "169.254.169.254",
  "2852039166",
  "0xa9fea9fe",
  "0251.0376.0251.0376",
  "168.63.129.16",
  "2822734096",
  "[::1]",
  "[::]",
  "[::ffff:127.0.0.1]",
  "[::ffff:a9fe:a9fe]",
  "[::127.0.0.1]",
  "[64:ff9b::7f00:1]",
  "[2002:7f00:1::]",
  "[fd00:ec2::254]",
  "[fe80::1]",
  "localhost",
  "LOCALHOST.",
  "printer.local",
  "metadata.google.internal",
  "metadata.google.internal.",
  "wireserver",
];

describe("a delivery to an address that is not public", () => {
  /** Takes part in no delivery as long as nothing is dialled. */
  const listener = createServer((socket) => {
    visits += 1;
    socket.destroy();
  });
  let visits = 0;
  let port = 0;
  let relay: Relay;
  /** What each case's delivery came to. */
  const outcomes = new Map<string, unknown>();

  beforeAll(async () => {
    port = await listening(listener);
    relay = await startRelay({ names });
    const cases: [string, string][] = [];
    for (const addresses of RESOLVED) {
      const name = newName();
      names.answers.set(name, [addresses]);
      cases.push([addresses.join(" and "), name]);
    }
    for (const host of WRITTEN) cases.push([`https://${host}`, host]);
    for (let start = 0; start < cases.length; start += ENDPOINTS_MAX) {
      const application = await anApplication(relay);
      const made: [string, TestEndpoint][] = [];
      for (const [label, host] of cases.slice(start, start + ENDPOINTS_MAX))
        made.push([label, await endpointAt(relay, application, `https://${host}:${port}/in`)]);
      await happen(relay, application);
      await relay.drain();
      for (const [label, endpoint] of made)
        outcomes.set(label, (await deliveriesOf(relay, endpoint))[0]);
    }
  });
  afterAll(async () => {
    await relay.stop();
    await closed(listener);
  });

  const REFUSED = {
    status: "pending",
    attempts: 1,
    lastError: "blocked_address",
    lastStatusCode: null,
    responseBody: null,
  };

  test.each(RESOLVED.map((addresses) => addresses.join(" and ")))(
    "a delivery to a name that resolves to %j is not sent",
    (label) => expect(outcomes.get(label)).toMatchObject(REFUSED),
  );

  test.each(WRITTEN)("written as %s is not sent, and can't be registered", async (host) => {
    expect(outcomes.get(`https://${host}`)).toMatchObject(REFUSED);
    const { key } = await anApplication(relay);
    const body = { url: `https://${host}:${port}/in` };
    const answer = await relay.call("POST", "/v1/webhooks", { key, body });
    expect(answer).toMatchObject({
      status: 400,
      body: {
        error: {
          code: "validation_failed",
          details: { issues: [{ path: "url", code: "refused_url" }] },
        },
      },
    });
  });

  test("no address that is not public is dialled", () => {
    expect(outcomes.size).toBe(RESOLVED.length + WRITTEN.length);
    expect(visits).toBe(0);
  });
});

describe("a delivery over TLS", () => {
  const DEFAULTS = getCACertificates("default");
  let relay: Relay;
  let good: Certificate;
  const servers: HttpsServer[] = [];

  /** Calls that arrived, with the address at which they did and the name that was meant. */
  interface Arrival {
    readonly at: string;
    readonly name: string | false | null;
  }

  /** A receiver that answers with these statuses, call by call; the last one stays. */
  async function receiverWith(certificate: Certificate, statuses: readonly number[]) {
    const arrivals: Arrival[] = [];
    const server = createHttpsServer(certificate, (incoming, outgoing) => {
      const { localAddress = "", servername } = incoming.socket as typeof incoming.socket & {
        servername: Arrival["name"];
      };
      arrivals.push({ at: localAddress, name: servername });
      const code = statuses[arrivals.length - 1] ?? statuses.at(-1) ?? 200;
      incoming.resume().on("end", () => outgoing.writeHead(code, { connection: "close" }).end());
    });
    servers.push(server);
    return { arrivals, port: await listening(server) };
  }

  async function delivered(url: string): Promise<TestEndpoint> {
    const endpoint = await endpointAt(relay, await anApplication(relay), url);
    await happen(relay, endpoint.application);
    await relay.drain();
    return endpoint;
  }

  const latest = async (endpoint: TestEndpoint) => (await deliveriesOf(relay, endpoint))[0];

  beforeAll(async () => {
    good = makeCertificate("*.receivers.example.com");
    setDefaultCACertificates([...DEFAULTS, good.cert]);
    const settings = { OUTBOUND_ALLOW_CIDRS: `${STAND_IN}/32` };
    relay = await startRelay({ settings, names });
  });
  beforeEach(() => void names.asked.splice(0));
  afterAll(async () => {
    setDefaultCACertificates(DEFAULTS);
    await relay.stop();
    for (const server of servers) {
      server.closeAllConnections();
      await closed(server);
    }
  });

  test("a delivery resolves its address once in each attempt, and dials the one that was checked", async () => {
    const { arrivals, port } = await receiverWith(good, [200]);
    const name = newName();
    // A second look-up would lead to the second address.
    names.answers.set(name, [[STAND_IN], ["127.0.0.2"]]);
    expect(await latest(await delivered(`https://${name}:${port}/`))).toMatchObject({
      status: "succeeded",
      lastStatusCode: 200,
    });
    expect(names.asked).toEqual([name]);
    expect(arrivals).toEqual([{ at: STAND_IN, name }]);
  });

  test("every attempt checks the address again: a name that turns internal is not called until it is public again", async () => {
    const { arrivals, port } = await receiverWith(good, [500, 200]);
    const name = newName();
    const turns = [
      [STAND_IN],
      ["127.0.0.2"],
      ["169.254.169.254"],
      ["::ffff:127.0.0.2"],
      [STAND_IN, "10.0.0.1"],
      ["64:ff9b::7f00:2"],
      [STAND_IN],
    ];
    names.answers.set(name, [...turns]);
    const endpoint = await delivered(`https://${name}:${port}/`);
    const errors: unknown[] = [];
    for (let attempt = 1; attempt <= turns.length; attempt += 1) {
      const delivery = await latest(endpoint);
      expect(delivery.attempts).toBe(attempt);
      errors.push(delivery.lastError);
      if (delivery.nextAttemptAt === null) break;
      const wait = Date.parse(delivery.nextAttemptAt) - relay.clock.now().getTime();
      relay.advance(Math.max(0, wait) + MINUTE);
      await enqueueDueDeliveries(relay.services);
      await relay.drain();
    }
    const refused = Array.from({ length: 5 }, () => "blocked_address");
    expect(errors).toEqual(["http_500", ...refused, null]);
    expect(names.asked).toEqual(turns.map(() => name));
    expect(arrivals).toEqual([STAND_IN, STAND_IN].map((at) => ({ at, name })));
  });

  test.each<[string, () => Certificate]>([
    ["of an unknown issuer", () => makeCertificate("*.receivers.example.com")],
    ["for another name", () => trusted(makeCertificate("*.elsewhere.example"))],
    ["that is over", () => trusted(makeCertificate("*.receivers.example.com", -1))],
  ])("a delivery to a receiver with a certificate %s is not sent", async (_, make) => {
    const { arrivals, port } = await receiverWith(make(), [200]);
    const name = newName();
    names.answers.set(name, [[STAND_IN]]);
    expect(await latest(await delivered(`https://${name}:${port}/`))).toMatchObject({
      status: "pending",
      attempts: 1,
      lastError: "tls_failed",
      lastStatusCode: null,
    });
    expect(arrivals).toEqual([]);
  });

  test("a delivery to a receiver without TLS is not sent", async () => {
    const received: string[] = [];
    const plain = createServer((socket) => {
      socket.on("error", () => undefined);
      socket.on("data", (bytes) => {
        received.push(bytes.toString("latin1"));
        socket.end("HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n");
      });
    });
    const port = await listening(plain);
    const name = newName();
    names.answers.set(name, [[STAND_IN]]);
    expect(await latest(await delivered(`https://${name}:${port}/`))).toMatchObject({
      status: "pending",
      lastError: "tls_failed",
    });
    expect(received.join("")).not.toContain("webhook");
    await closed(plain);
  });

  /** One whose issuer is no obstacle. */
  function trusted(certificate: Certificate): Certificate {
    setDefaultCACertificates([...DEFAULTS, good.cert, certificate.cert]);
    return certificate;
  }
});
