import { setTimeout as delay } from "node:timers/promises";
import { timers } from "../src/functions/timers.ts";
import { workers } from "../src/functions/workers.ts";
import { parseConfig } from "../src/shared/runtime/config.ts";
import { systemScope, type Timer, type Worker } from "../src/shared/http/worker.ts";
import { parseSchedule } from "../dev/host/timer-schedule.ts";
import { buildServices, type Services } from "../src/shared/compose.ts";
import type { MessageQueue } from "../src/shared/runtime/storage/queue.ts";
import { Machine, natureOf, quietly } from "../test/model/machine.ts";
import { tablesOver } from "../test/model/model-client.ts";
import { PartitionLoad } from "../test/model/partition-load.ts";
import { Random } from "../test/model/random.ts";
import { TableModel } from "../test/model/table-model.ts";
import { VirtualTime } from "../test/model/virtual-time.ts";
import { settingsOf } from "./relay.ts";

/** What a request to storage takes within a region, there and back. */
export const STORAGE_MS = 6;
/** As in host.json. */
const POLL_MS = 100;
const BATCH = 32;
const IN_HAND_MAX = 63;

/** The machine's own time, where the model asks what time it is. */
class PresentTime extends VirtualTime {
  constructor() {
    super(0);
  }

  override get now(): number {
    return performance.now();
  }
}

/** A process whose requests to storage take their time and cost it next to nothing. */
class MachineInRegion extends Machine {
  requests = 0;

  constructor() {
    const fair = natureOf(new PresentTime(), new Random(1));
    super("bench", { ...fair, load: new PartitionLoad(), isEmptyFirst: true });
  }

  override async call<T>(reach: () => T): Promise<T> {
    this.requests += 1;
    await delay(STORAGE_MS);
    return reach();
  }
}

interface Message {
  readonly body: object;
  readonly seenAt: number;
}

/** Queues as the host listens to them: polls that find nothing are followed by a pause, those that find much by another. */
class QueuesInRegion {
  readonly #machine: MachineInRegion;
  readonly #waiting = new Map<string, Message[]>();
  #isOver = false;

  constructor(machine: MachineInRegion) {
    this.#machine = machine;
  }

  open(name: string): MessageQueue {
    return {
      send: (body, delaySeconds = 0) =>
        this.#machine.call(() => {
          const messages = this.#waiting.get(name) ?? [];
          this.#waiting.set(name, messages);
          messages.push({ body, seenAt: performance.now() + delaySeconds * 1000 });
        }),
      ping: () => Promise.resolve(),
    };
  }

  #receive(name: string, count: number): Promise<readonly Message[]> {
    return this.#machine.call(() => {
      const now = performance.now();
      const messages = this.#waiting.get(name) ?? [];
      const due = messages.filter(({ seenAt }) => seenAt <= now).slice(0, count);
      const taken = new Set(due);
      this.#waiting.set(
        name,
        messages.filter((message) => !taken.has(message)),
      );
      return due;
    });
  }

  async listen(services: Services, { queue, handle }: Worker): Promise<void> {
    const inHand = new Set<Promise<void>>();
    const work = async ({ body }: Message) => {
      try {
        await handle(services, body);
        await this.#machine.call(() => undefined);
      } catch (error) {
        console.error(`${queue} failed`, error);
      }
    };
    while (!this.#isOver) {
      const received = await this.#receive(queue, Math.min(BATCH, IN_HAND_MAX - inHand.size));
      for (const message of received) {
        const working = work(message).finally(() => inHand.delete(working));
        inHand.add(working);
      }
      if (received.length === 0) await delay(POLL_MS);
      while (inHand.size >= IN_HAND_MAX) await Promise.race(inHand);
    }
  }

  get waiting(): number {
    return [...this.#waiting.values()].reduce((sum, messages) => sum + messages.length, 0);
  }

  stop(): void {
    this.#isOver = true;
  }
}

/** What nobody looks at any more once a post and its webhooks have ended, by the beginning of its key. */
const ENDED: Readonly<Record<string, RegExp>> = {
  core: /^[PLI]\|/,
  events: /^/,
  deliveries: /^D\|/,
  timeline: /^/,
  accounts: /^T\|/,
};
/** Longer than a post takes with all that follows from it. */
const ENDED_MS = 30_000;

interface Written {
  readonly table: string;
  readonly partitionKey: string;
  readonly rowKey: string;
  readonly at: number;
}

/** Rows in the order of their writing, so that memory tells of the product and not of what is stored. */
class EndedRows {
  readonly #model: TableModel;
  #written: Written[] = [];

  constructor(model: TableModel) {
    this.#model = model;
    model.onCommit = ({ table, partitionKey }, rows) => {
      const at = performance.now();
      for (const { rowKey } of rows)
        if (ENDED[table]?.test(rowKey) === true)
          this.#written.push({ table, partitionKey, rowKey, at });
    };
  }

  trim(unwrittenMs = ENDED_MS): void {
    const before = performance.now() - unwrittenMs;
    const isYoung = this.#written.findIndex(({ at }) => at >= before);
    const old = this.#written.splice(0, isYoung < 0 ? this.#written.length : isYoung);
    for (const { table, partitionKey, rowKey } of old)
      quietly(() =>
        this.#model.transact(table, partitionKey, [{ kind: "delete", rowKey, etag: "*" }]),
      );
  }
}

/** Runs a timer by its schedule, as the host does. Returns what ends it. */
function runByItself(timer: Timer, services: Services): () => void {
  const schedule = parseSchedule(timer.schedule(services));
  let next: NodeJS.Timeout | undefined;
  let isOver = false;
  const turn = async (): Promise<void> => {
    await timer.run(services, systemScope(services, timer.name)).catch(() => undefined);
    waitForNext();
  };
  const waitForNext = (): void => {
    if (isOver) return;
    const now = new Date();
    const waitMs = schedule.next(now).getTime() - now.getTime();
    next = setTimeout(() => void turn(), waitMs).unref();
  };
  waitForNext();
  return () => {
    isOver = true;
    clearTimeout(next);
  };
}

/** The product in this process, on storage of a region. */
export interface RelayInRegion {
  readonly services: Services;
  /** Requests to storage so far. */
  requests(): number;
  /** Messages that nobody has received yet. */
  waiting(): number;
  /** Removes the rows of posts that ended; those that were not written for so long. */
  trim(unwrittenMs?: number): void;
  /** So many requests to storage, one after the other. */
  bareRequests(count: number): Promise<void>;
  stop(): void;
}

/**
 * No emulator takes the cores: tables are the model that the simulation runs on, which the contract suite holds against
 * the emulator. What clients and their HTTP cost is left out.
 */
export function startRelayInRegion(
  settings: Readonly<Record<string, string>>,
  { works = true }: { readonly works?: boolean } = {},
): RelayInRegion {
  const machine = new MachineInRegion();
  const queues = new QueuesInRegion(machine);
  const nowhere = "UseDevelopmentStorage=true";
  const storage = { tables: nowhere, queues: nowhere, stop: () => Promise.resolve() };
  const config = parseConfig({ ...settingsOf(storage, ""), ...settings });
  const model = new TableModel();
  const ended = new EndedRows(model);
  const services = buildServices(config, {
    tables: tablesOver(model, machine),
    queue: (name) => queues.open(name),
  });
  if (works) for (const worker of workers) void queues.listen(services, worker);
  const ends = works ? timers.map((timer) => runByItself(timer, services)) : [];
  return {
    services,
    requests: () => machine.requests,
    waiting: () => queues.waiting,
    trim: (unwrittenMs) => ended.trim(unwrittenMs),
    async bareRequests(count) {
      for (let index = 0; index < count; index += 1) await machine.call(() => undefined);
    },
    stop() {
      for (const end of ends) end();
      queues.stop();
    },
  };
}
