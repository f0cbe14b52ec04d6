import { describe, expect, test } from "vitest";
// Here, so that no run waits for it, whose time would go on meanwhile.
import "../../src/functions/background.ts";
import { workers } from "../../src/functions/workers.ts";
import { buildServices, type Services } from "../../src/shared/compose.ts";
import { parseConfig } from "../../src/shared/runtime/config.ts";
import { newId } from "../../src/shared/runtime/ids.ts";
import type { Outbound } from "../../src/shared/runtime/outbound.ts";
import { emitEvent } from "../../src/shared/webhooks/events/emit-event.ts";
import { newEvent } from "../../src/shared/webhooks/events/event.ts";
import { Machine, natureOf } from "../model/machine.ts";
import { tablesOver } from "../model/model-client.ts";
import { QueueModel } from "../model/queue-model.ts";
import { Random } from "../model/random.ts";
import { TableModel } from "../model/table-model.ts";
import { inVirtualTime, VirtualTime } from "../model/virtual-time.ts";
import { createEndpoint } from "../simulation/tenants.ts";

const START = Date.parse("2026-03-04T10:00:00.000Z");
const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const POLL_MS = 100;
const BACKLOG = 800;
/** As long as a receiver may take that is slow, and never fails. */
const SLOW_MS = 5 * SECOND;
/** As long as one usually takes. */
const QUICK_MS = 50;

const silent = () => undefined;
const log = { debug: silent, info: silent, warn: silent, error: silent, with: () => log };
const config = parseConfig({
  AZURE_FUNCTIONS_ENVIRONMENT: "Development",
  AzureWebJobsStorage: "UseDevelopmentStorage=true",
  BCRYPT_COST: "4",
});

/** A receiver that takes so long for each call. */
class SlowReceiver {
  readonly ids: string[] = [];
  most = 0;
  /** When the last call ended. */
  lastAt = 0;
  #running = 0;
  readonly #time: VirtualTime;
  readonly #tookMs: number;

  constructor(time: VirtualTime, tookMs: number) {
    this.#time = time;
    this.#tookMs = tookMs;
  }

  open(): Outbound {
    return {
      request: async ({ headers }) => {
        this.#running += 1;
        this.most = Math.max(this.most, this.#running);
        await this.#time.wait(this.#tookMs);
        this.#running -= 1;
        this.ids.push(String(headers?.["webhook-id"]));
        this.lastAt = this.#time.now;
        return { status: 200, headers: {}, body: new Uint8Array() };
      },
      // Safe: deliveries ask for nothing else.
    } as Partial<Outbound> as Outbound;
  }
}

/** So many processes of a deployment with one endpoint, whose messages go to any of them. */
class Deployment {
  readonly sent = new Map<string, number>();
  readonly processes: readonly Services[];
  readonly platformId = newId("platform", new Date(START));
  readonly applicationId = newId("application", new Date(START));
  readonly #queues: QueueModel;
  readonly #time: VirtualTime;
  #handling = 0;

  constructor(time: VirtualTime, random: Random, receiver: SlowReceiver, processes: number) {
    const model = new TableModel();
    const nature = natureOf(time, random);
    this.#time = time;
    this.#queues = new QueueModel(() => time.now);
    const queue = (name: string) => {
      const opened = this.#queues.open(name);
      return {
        ping: () => opened.ping(),
        send: (message: object, delaySeconds?: number) => {
          this.sent.set(name, (this.sent.get(name) ?? 0) + 1);
          return opened.send(message, delaySeconds);
        },
      };
    };
    this.processes = Array.from({ length: processes }, (_, index) =>
      buildServices(config, {
        tables: tablesOver(model, new Machine(`process ${index}`, nature)),
        queue,
        clock: { now: () => new Date(time.now) },
        outbound: receiver.open(),
        log,
      }),
    );
  }

  get first(): Services {
    const [first] = this.processes;
    if (first === undefined) throw new Error("no process");
    return first;
  }

  async anEndpoint(): Promise<void> {
    const { platformId, applicationId } = this;
    await createEndpoint(
      this.first,
      { platformId, applicationId },
      { url: "https://hooks.example.com/", status: "active" },
      new Date(this.#time.now),
    );
  }

  async happen(services: Services): Promise<void> {
    const nobody = { sequence: null, profileId: null, postId: null, data: {} } as const;
    const { applicationId } = this;
    const type = "connection.linked";
    const event = newEvent({ type, applicationId, ...nobody }, new Date(this.#time.now));
    await emitEvent(services, this.platformId, event);
  }

  /** As hosts do, each of which takes what it sees first. */
  startHosts(): void {
    let turn = 0;
    this.#time.set(
      () => {
        for (let due = this.#queues.takeDue(); due !== undefined; due = this.#queues.takeDue()) {
          const { queue, message } = due;
          const services = this.processes[turn % this.processes.length];
          turn += 1;
          const worker = workers.find((one) => one.queue === queue);
          if (services === undefined || worker === undefined) throw new Error("nobody is there");
          this.#handling += 1;
          void worker.handle(services, message).finally(() => (this.#handling -= 1));
        }
      },
      POLL_MS,
      POLL_MS,
    );
  }

  get isIdle(): boolean {
    return this.#handling === 0 && this.#queues.length === 0;
  }
}

/** So many events happen in so many processes, and are delivered to one receiver. */
async function deliverAll(given: {
  readonly processes: number;
  readonly events: number;
  readonly everyMs: number;
  readonly tookMs: number;
}) {
  const random = new Random(11);
  const time = new VirtualTime(START);
  const receiver = new SlowReceiver(time, given.tookMs);
  return await inVirtualTime(time, random, async () => {
    const deployment = new Deployment(time, random, receiver, given.processes);
    const happenAll = async () => {
      await deployment.anEndpoint();
      deployment.startHosts();
      const happening: Promise<void>[] = [];
      for (let index = 0; index < given.events; index += 1) {
        const services = deployment.processes[index % given.processes] ?? deployment.first;
        happening.push(deployment.happen(services));
        await time.wait(given.everyMs);
      }
      await Promise.all(happening);
    };
    const state = { isOver: false };
    void happenAll().finally(() => (state.isOver = true));
    await time.pass(START + 120 * MINUTE, () => state.isOver && deployment.isIdle);
    return { receiver, deployment };
  });
}

test("a healthy endpoint is told of a hundred events of one moment within seconds", async () => {
  const { receiver } = await deliverAll({
    processes: 1,
    events: 100,
    everyMs: 0,
    tookMs: QUICK_MS,
  });
  expect(new Set(receiver.ids).size).toBe(100);
  expect(receiver.lastAt - START).toBeLessThan(5 * SECOND);
});

describe("a backlog at a slow endpoint", () => {
  test("waits in the table: four at a time over all instances, and hardly more messages than deliveries", async () => {
    const { receiver, deployment } = await deliverAll({
      processes: 4,
      events: BACKLOG,
      everyMs: 100,
      tookMs: SLOW_MS,
    });
    expect(new Set(receiver.ids).size).toBe(BACKLOG);
    expect(receiver.ids).toHaveLength(BACKLOG);
    expect(receiver.most).toBe(4);
    const messages = deployment.sent.get("deliver-webhooks") ?? 0;
    expect(messages / BACKLOG).toBeLessThanOrEqual(1.2);
  });
});
