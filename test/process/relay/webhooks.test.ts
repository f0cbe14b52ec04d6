import { randomBytes } from "node:crypto";
import { afterAll, beforeAll, describe, expect, inject, test } from "vitest";
import { casesOf } from "../../setup/long-check.ts";
import { startFaultProxy } from "../../setup/fault-proxy.ts";
import type { Fault, FaultProxy, ProxiedCall } from "../../setup/fault-proxy.ts";
import { isSignedWith } from "../soak/receivers.ts";
import { hangs, ok, startReceiver } from "../../webhooks/receiver.ts";
import type { Receiver } from "../../webhooks/receiver.ts";
import { aCustomer, endedPost, linkMastodon, publish } from "./customer.ts";
import type { Customer } from "./customer.ts";
import { dataOf, eventually, startRelayProcess } from "./relay-process.ts";
import type { RelayProcess } from "./relay-process.ts";
import { startWorld } from "./world.ts";
import type { World } from "./world.ts";

/** Longer than leases, and than a hint that has no effect is waited for: all that the dead process had is free then. */
const BEYOND_LEASES_MS = 100_000;
const TABLE_PORT = /(TableEndpoint=http:\/\/127\.0\.0\.1:)(\d+)/;

let world: World;
let receiver: Receiver;
let tables: FaultProxy;
let relay: RelayProcess;
/** What becomes of the next storage call that it has a word for. */
let choose: (call: ProxiedCall) => Fault = () => "pass";

beforeAll(async () => {
  receiver = await startReceiver();
  const host = new URL(receiver.url("")).host;
  world = await startWorld({ [host]: `http://127.0.0.1:${receiver.port}` });
  const storage = inject("azurite");
  tables = await startFaultProxy(Number(TABLE_PORT.exec(storage)?.[2]), (call) => choose(call));
  relay = await startRelayProcess({
    settings: {
      ...world.settings,
      AzureWebJobsStorage: storage.replace(TABLE_PORT, `$1${tables.port}`),
      WEBHOOK_TIMEOUT_MS: "5000",
      WEBHOOK_RETRY_SECONDS: "1,1,2,2,4,4,4,4,4",
    },
  });
});

afterAll(async () => {
  await relay?.stop();
  await Promise.all([world?.stop(), receiver?.stop(), tables?.stop()]);
});

interface Endpoint {
  readonly path: string;
  readonly secret: string;
}

let endpoints = 0;

async function anEndpoint({ key }: Customer): Promise<Endpoint> {
  endpoints += 1;
  const path = `/whole/${endpoints}`;
  const call = { bearer: key, body: { url: receiver.url(path) } };
  const { secret } = dataOf(await relay.call("POST", "/v1/webhooks", call));
  return { path, secret };
}

/** The ids of the events of a post that has ended, from the list that needs no receiver. */
async function eventsOf(customer: Customer, postId: string): Promise<string[]> {
  const found = await eventually("the post's last event", async () => {
    const answer = await relay.call("GET", "/v1/events?limit=100", { bearer: customer.key });
    const events: readonly { id: string; type: string; data: { post?: { id: string } } }[] =
      dataOf(answer);
    const own = events.filter(({ data }) => data.post?.id === postId);
    return own.some(({ type }) => type === "post.succeeded") ? own : undefined;
  });
  return found.map(({ id }) => id);
}

/** Every event arrived at least once, signed, under its own id and always as the same bytes. */
async function expectDelivered({ path, secret }: Endpoint, eventIds: readonly string[]) {
  const callsOf = (id: string) =>
    receiver.received(path).filter(({ headers }) => headers["webhook-id"] === id);
  await eventually(`every event at ${path}`, () =>
    eventIds.every((id) => callsOf(id).length > 0) ? true : undefined,
  );
  for (const id of eventIds) {
    expect(new Set(callsOf(id).map(({ body }) => body)).size).toBe(1);
    expect(JSON.parse(callsOf(id)[0]?.body ?? "{}").id).toBe(id);
  }
  for (const call of receiver.received(path)) expect(isSignedWith(secret, call)).toBe(true);
}

async function linkedCustomer(): Promise<Customer> {
  const customer = await aCustomer(relay, world);
  await linkMastodon(relay, customer, "mastodon.sandbox.test");
  return customer;
}

/** Accepted, by whichever process it takes. */
async function submit(customer: Customer, text: string, key: string): Promise<string> {
  const accepted = await publish(relay, customer, { text, platforms: ["mastodon"] }, key);
  return dataOf(accepted).id;
}

const unique = () => randomBytes(6).toString("hex");

test("what a receiver held in its hands when the process was killed is delivered again under its id", async () => {
  const customer = await linkedCustomer();
  const endpoint = await anEndpoint(customer);
  receiver.behave(endpoint.path, hangs);
  const postId = await submit(customer, `Held ${unique()}`, unique());
  await eventually("a held delivery", () => receiver.received(endpoint.path)[0]);
  await relay.kill9();
  const held = receiver.received(endpoint.path).map(({ headers }) => headers["webhook-id"]);
  receiver.behave(endpoint.path, ok);
  await relay.restartLater(BEYOND_LEASES_MS);
  await endedPost(relay, customer, postId);
  const eventIds = await eventsOf(customer, postId);
  await expectDelivered(endpoint, eventIds);
  // Not only those of the post: what was linked before may be told then too.
  for (const id of held)
    await eventually("the delivery's second call", () => {
      const calls = receiver
        .received(endpoint.path)
        .filter(({ headers }) => headers["webhook-id"] === id);
      return calls.length > 1 ? true : undefined;
    });
}, 180_000);

/** The writes of a fan-out in their order, by what they have in common. */
const WRITES: readonly (readonly [what: string, write: RegExp])[] = [
  ["the event is logged", /^(PUT|PATCH) .*events\(.*evt_/],
  ["the delivery is made", /^POST .*(?<!due)deliveries(\(\))?(\?|$)/],
  ["somebody begins to deliver", /^PATCH .*(?<!due)deliveries\(.*RowKey='S'/],
  ["the event leaves the outbox", /^DELETE .*core\(.*E\|evt_/],
];

/** What a call asks for: its own line, or those of the operations in a transaction. */
function operationsOf({ method, path, body }: ProxiedCall): string[] {
  if (!path.includes("/$batch")) return [`${method} ${decodeURIComponent(path)}`];
  const lines = body.matchAll(/^([A-Z]+ \S+) HTTP\/1\.1\r?$/gm);
  return [...lines].map(([, line = ""]) => decodeURIComponent(line));
}

describe("a kill -9 in the middle of a fan-out loses no event and invents none", () => {
  let customer: Customer;
  let both: readonly Endpoint[];
  const postIds: string[] = [];

  beforeAll(async () => {
    customer = await linkedCustomer();
    both = [await anEndpoint(customer), await anEndpoint(customer)];
  });

  const kills = casesOf(
    [
      ...WRITES.map(([what, write]) => ({
        what,
        when: "just after",
        write,
        fault: "pass" as const,
      })),
      ...WRITES.map(([what, write]) => ({
        what,
        when: "before",
        write,
        fault: "lose_request" as const,
      })),
    ],
    1,
  );

  test.each(kills)(
    "$when $what",
    async ({ write, fault }) => {
      const { promise: killed, resolve } = Promise.withResolvers<void>();
      const text = `Fanned out ${unique()}`;
      const key = unique();
      choose = (call) => {
        if (!operationsOf(call).some((line) => write.test(line))) return "pass";
        choose = () => "pass";
        void relay.kill9().then(resolve);
        return fault;
      };
      // Its answer may be lost with the process.
      const first = submit(customer, text, key).catch(() => undefined);
      await killed;
      const told = await first;
      await relay.restartLater(BEYOND_LEASES_MS);
      const postId = await submit(customer, text, key);
      expect([undefined, postId]).toContain(told);
      expect((await endedPost(relay, customer, postId)).status).toBe("succeeded");
      postIds.push(postId);
    },
    180_000,
  );

  test("every event of these posts reaches both receivers, under one id", async () => {
    expect(postIds).toHaveLength(kills.length);
    for (const postId of postIds) {
      const eventIds = await eventsOf(customer, postId);
      expect(eventIds.length).toBeGreaterThan(1);
      for (const endpoint of both) await expectDelivered(endpoint, eventIds);
    }
  }, 180_000);
});
