import { describe, expect, test } from "vitest";
// Here, so that no run waits for it, whose time would go on meanwhile.
import "../../src/functions/background-verbs.ts";
import { workers } from "../../src/functions/workers.ts";
import { buildServices, type Services } from "../../src/shared/compose.ts";
import { parseConfig } from "../../src/shared/config/config.ts";
import { newId } from "../../src/shared/runtime/ids.ts";
import type { Outbound } from "../../src/shared/runtime/outbound.ts";
import { emitEvent } from "./emit-event.ts";
import { newEvent } from "../../src/shared/events/events.ts";
import { Machine, natureOf } from "../model/machine.ts";
import type { Table } from "../../src/shared/runtime/storage/table.ts";
import { tablesOver } from "../model/model-client.ts";
import { type Message, QueueModel } from "../model/queue-model.ts";
import { Random } from "../model/random.ts";
import { TableModel } from "../model/table-model.ts";
import { inVirtualTime, VirtualTime } from "../model/virtual-time.ts";
import { createEndpoint } from "../model/simulation/tenants.ts";

const START = Date.parse("2026-03-04T10:00:00.000Z");
const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const POLL_MS = 100;
/** As `host.json` has it. */
const BATCH = 32;

const kindOf = (message: object) => ("kind" in message ? String(message.kind) : "");
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
  readonly #machines: Machine[] = [];
  readonly #cores = new Map<Services, Table>();
  readonly #queues: QueueModel;
  readonly #time: VirtualTime;
  #handling = 0;

  constructor(time: VirtualTime, random: Random, receiver: SlowReceiver, processes: number) {
    const model = new TableModel();
    const nature = natureOf(time, random);
    const tables = (name: string) => {
      const machine = new Machine(name, nature);
      this.#machines.push(machine);
      return tablesOver(model, machine);
    };
    this.#time = time;
    this.#queues = new QueueModel(() => time.now);
    const queue = (name: string) => {
      const opened = this.#queues.open(name);
      return {
        ping: () => opened.ping(),
        send: (message: object, delaySeconds?: number) => {
          const kind = kindOf(message);
          this.sent.set(kind, (this.sent.get(kind) ?? 0) + 1);
          return opened.send(message, delaySeconds);
        },
      };
    };
    this.processes = Array.from({ length: processes }, (_, index) => {
      const own = tables(`process ${index}`);
      const services = buildServices(config, {
        tables: own,
        queue,
        clock: { now: () => new Date(time.now) },
        outbound: receiver.open(),
        log,
      });
      this.#cores.set(services, own.core);
      return services;
    });
  }

  /** How many requests these processes have sent to tables. */
  requestsOf(processes: readonly Services[]): number {
    const isOwn = (services: Services | undefined) =>
      services !== undefined && processes.includes(services);
    const own = this.#machines.filter((_, index) => isOwn(this.processes[index]));
    return own.reduce((sum, { calls }) => sum + calls, 0);
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
    const core = this.#cores.get(services);
    if (core === undefined) throw new Error("no process of this deployment");
    await emitEvent(services, core, this.platformId, event);
  }

  /**
   * As hosts do, each of which looks at its own times and takes a batch of what there is. Messages of other kinds are
   * lost.
   */
  startHosts(processes = this.processes, kinds?: readonly string[]): void {
    for (const [index, services] of processes.entries())
      this.#time.set(
        () => {
          for (let taken = 0; taken < BATCH; taken += 1) {
            const due = this.#queues.takeDue();
            if (due === undefined) return;
            if (kinds?.includes(kindOf(due.message)) !== false) this.#handle(services, due);
          }
        },
        (POLL_MS * (index + 1)) / processes.length,
        POLL_MS,
      );
  }

  #handle(services: Services, { queue, message }: Message): void {
    const worker = workers.find((one) => one.queue === queue);
    if (worker === undefined) throw new Error("nobody is there");
    this.#handling += 1;
    void worker.handle(services, message).finally(() => (this.#handling -= 1));
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

test("a healthy endpoint gets a hundred events of one moment within seconds", async () => {
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
  test("a backlog waits in the table: four deliveries at a time over all instances, and hardly more messages than deliveries", async () => {
    const { receiver, deployment } = await deliverAll({
      processes: 4,
      events: BACKLOG,
      everyMs: 100,
      tookMs: SLOW_MS,
    });
    expect(new Set(receiver.ids).size).toBe(BACKLOG);
    expect(receiver.ids).toHaveLength(BACKLOG);
    expect(receiver.most).toBe(4);
    const messages = deployment.sent.get("deliveries") ?? 0;
    expect(messages / BACKLOG).toBeLessThanOrEqual(1.2);
  });
});

/**
 * So many processes fan out what as many others emit; returns the requests to tables that each event took. No sweep
 * finds what is forgotten. */
async function fanOutAll(given: {
  readonly processes: number;
  readonly events: number;
  readonly everyMs: number;
}) {
  const random = new Random(12);
  const time = new VirtualTime(START);
  return await inVirtualTime(time, random, async () => {
    const { processes, events, everyMs } = given;
    const deployment = new Deployment(time, random, new SlowReceiver(time, 0), 2 * processes);
    const emitting = deployment.processes.slice(0, processes);
    const working = deployment.processes.slice(processes);
    const state = { isOver: false };
    const happenAll = async () => {
      await deployment.anEndpoint();
      const happening: Promise<void>[] = [];
      for (let index = 0; index < events; index += 1) {
        const services = emitting[index % processes] ?? deployment.first;
        happening.push(deployment.happen(services));
        await time.wait(everyMs);
      }
      await Promise.all(happening);
    };
    deployment.startHosts(working, ["events"]);
    void happenAll().finally(() => (state.isOver = true));
    await time.pass(START + 10 * MINUTE, () => state.isOver && deployment.isIdle);
    const { platformId } = deployment;
    let left: readonly unknown[] | undefined;
    void deployment.first.webhooks.stores.events
      .listPending(platformId, 1)
      .then((found) => (left = found));
    const requests = deployment.requestsOf(working);
    await time.pass(time.now + MINUTE, () => left !== undefined);
    expect(left).toEqual([]);
    return { each: requests / events };
  });
}

describe("the fan-out of a platform's events", () => {
  // A poll of the queue sees one, five and twenty events of a platform, each hinted by another process.
  test.each([
    [100, 5.1],
    [20, 2],
    [5, 1.2],
    [0, 0.6],
  ])(
    "the fan-out of one event in %i ms takes at most %d requests to storage, with eight processes",
    async (everyMs, most) => {
      const alone = await fanOutAll({ processes: 1, events: 300, everyMs });
      const together = await fanOutAll({ processes: 8, events: 300, everyMs });
      const told = [alone, together].map(({ each }) => each.toFixed(2)).join(" and ");
      process.stdout.write(`fan-out, one event in ${everyMs} ms: ${told} requests each\n`);
      expect(together.each).toBeLessThanOrEqual(most);
    },
  );
});
