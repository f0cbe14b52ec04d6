import { setTimeout as delay } from "node:timers/promises";
import { workers } from "../src/functions/workers.ts";
import { parseConfig } from "../src/shared/config.ts";
import type { Worker } from "../src/shared/http/worker.ts";
import { buildServices, type Services } from "../src/shared/services.ts";
import type { MessageQueue } from "../src/shared/storage/queue.ts";
import { Machine, natureOf } from "../test/simulation/machine.ts";
import { tablesOver } from "../test/simulation/model-client.ts";
import { Random } from "../test/simulation/random.ts";
import { TableModel } from "../test/simulation/table-model.ts";
import { VirtualTime } from "../test/simulation/virtual-time.ts";
import { settingsOf } from "./relay.ts";

/** What a request to storage takes within a region, there and back. */
export const STORAGE_MS = 6;
/** As in host.json. */
const POLL_MS = 100;
const BATCH = 32;
const IN_HAND_MAX = 63;

/** A process whose requests to storage take their time and cost it next to nothing. */
class MachineInRegion extends Machine {
  requests = 0;

  constructor() {
    super("bench", natureOf(new VirtualTime(0), new Random(1)));
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

  async listen(services: Services, { name, queue, handle }: Worker): Promise<void> {
    const inHand = new Set<Promise<void>>();
    const work = async ({ body }: Message) => {
      try {
        await handle(services, body);
        await this.#machine.call(() => undefined);
      } catch (error) {
        console.error(`${name} failed`, error);
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

  stop(): void {
    this.#isOver = true;
  }
}

/** The product in this process, on storage of a region. */
export interface RelayInRegion {
  readonly services: Services;
  /** Requests to storage so far. */
  requests(): number;
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
  const services = buildServices(config, {
    tables: tablesOver(new TableModel(), machine),
    queue: (name) => queues.open(name),
  });
  if (works) for (const worker of workers) void queues.listen(services, worker);
  return {
    services,
    requests: () => machine.requests,
    async bareRequests(count) {
      for (let index = 0; index < count; index += 1) await machine.call(() => undefined);
    },
    stop: () => queues.stop(),
  };
}
