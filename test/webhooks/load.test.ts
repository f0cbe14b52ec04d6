import { afterAll, beforeAll, expect, test } from "vitest";
import { workers } from "../../src/functions/workers.ts";
import type { MessageQueue } from "../../src/shared/runtime/storage/queue.ts";
import { buildServices, type Services } from "../../src/shared/compose.ts";
import { anApplication } from "../setup/factories.ts";
import { startRelay, type Relay } from "../setup/relay.ts";
import { hangs, startReceiver, type Receiver } from "./receiver.ts";
import { anEndpoint, happen } from "./subscriber.ts";

const ENDPOINTS = 20;
const EVENTS = 50;
/** What the host's settings allow at once: a batch of 32, and a new one when 31 are left. */
const HOST_PARALLEL = 63;
/** Long enough that a busy machine does not make a slow receiver of the others. */
const HANG_MS = 8_000;
/** Far more than the work needs, far less than the hanging receiver would take if it stood in the way. */
const ALL_MS_MAX = 60_000;

let receiver: Receiver;
let relay: Relay;

beforeAll(async () => {
  receiver = await startReceiver();
  const settings = { ...receiver.settings, WEBHOOK_TIMEOUT_MS: String(HANG_MS) };
  relay = await startRelay({ settings });
});
afterAll(async () => {
  await relay.stop();
  await receiver.stop();
});

/** A queue as the host works through it: in order of time, so many at once, delays in real time. */
class HostQueue {
  readonly #waiting: {
    readonly queue: string;
    readonly message: object;
    readonly dueAt: number;
  }[] = [];
  readonly #running = new Set<Promise<void>>();

  open(queue: string): MessageQueue {
    return {
      send: async (message, delaySeconds = 0) => {
        this.#waiting.push({ queue, message, dueAt: Date.now() + delaySeconds * 1_000 });
      },
      ping: () => Promise.resolve(),
    };
  }

  async run(services: Services, isDone: () => boolean): Promise<void> {
    while (!isDone()) {
      const index = this.#waiting.findIndex(({ dueAt }) => dueAt <= Date.now());
      const [next] =
        index < 0 || this.#running.size >= HOST_PARALLEL ? [] : this.#waiting.splice(index, 1);
      if (next === undefined) await new Promise((resolve) => setTimeout(resolve, 5));
      else {
        const worker = workers.find(({ queue }) => queue === next.queue);
        const work = worker?.handle(services, next.message) ?? Promise.resolve();
        const running: Promise<void> = work.finally(() => this.#running.delete(running));
        this.#running.add(running);
      }
    }
  }

  async end(): Promise<void> {
    await Promise.all(this.#running);
  }
}

test("one hanging receiver among twenty holds up nobody else's thousand deliveries", async () => {
  const application = await anApplication(relay);
  const endpoints = [];
  for (let index = 0; index < ENDPOINTS; index += 1)
    endpoints.push(await anEndpoint(relay, receiver, application));
  const [hanging, ...others] = endpoints;
  if (hanging === undefined) throw new Error("no endpoint");
  receiver.behave(hanging.path, hangs);
  const host = new HostQueue();
  const services = buildServices(relay.services.config, {
    clock: relay.clock,
    outbound: relay.services.connections.outbound,
    log: relay.services.log,
    tables: relay.tables,
    queue: (name) => host.open(name),
  });
  for (let index = 0; index < EVENTS; index += 1) await happen({ ...relay, services }, application);

  const startedAt = Date.now();
  const counts = () => others.map(({ path }) => receiver.received(path).length);
  await host.run(
    services,
    () => counts().every((count) => count >= EVENTS) || Date.now() - startedAt > ALL_MS_MAX,
  );
  const took = Date.now() - startedAt;
  await host.end();
  expect(counts()).toEqual(others.map(() => EVENTS));
  for (const { path } of others) {
    const ids = receiver.received(path).map(({ headers }) => headers["webhook-id"]);
    expect(new Set(ids).size).toBe(EVENTS);
  }
  // Four at a time, each of them for as long as the timeout lets it hang.
  const turns = Math.ceil(took / HANG_MS) + 1;
  expect(receiver.received(hanging.path).length).toBeLessThanOrEqual(4 * turns);
}, 120_000);
