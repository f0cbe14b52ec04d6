import type { Worker } from "../../src/shared/http/worker.ts";
import type { Services } from "../../src/shared/compose.ts";
import type { MessageQueue } from "../../src/shared/runtime/storage/queue.ts";

export interface Waiting {
  readonly queue: string;
  readonly message: object;
  readonly dueAt: number;
}

const MESSAGES_MAX = 40_000;

/** Queues whose delays follow the test's clock, with the losses that a test asks for. */
export class MemoryQueues {
  readonly #now: () => Date;
  readonly #waiting: Waiting[];
  /** Called before a message is taken in; what it throws, the sender gets. */
  onSend: (message: object) => "keep" | "lose" | "double" = () => "keep";

  /** `same` are the queues of another process of the deployment: what one sends, the other may take. */
  constructor(now: () => Date, same?: MemoryQueues) {
    this.#now = now;
    this.#waiting = same === undefined ? [] : same.#waiting;
  }

  open(queue: string): MessageQueue {
    return {
      send: async (message, delaySeconds = 0) => {
        const verdict = this.onSend(message);
        const dueAt = this.#now().getTime() + delaySeconds * 1000;
        const copies = { keep: 1, lose: 0, double: 2 }[verdict];
        for (let copy = 0; copy < copies; copy += 1) this.#waiting.push({ queue, message, dueAt });
      },
      ping: () => Promise.resolve(),
    };
  }

  /** In the order in which they were sent. */
  get waiting(): readonly Waiting[] {
    return this.#waiting;
  }

  get length(): number {
    return this.#waiting.length;
  }

  /** Hands every due message to its worker until none is left; answers how many there were. */
  async drain(workers: readonly Worker[], services: Services): Promise<number> {
    let total = 0;
    for (;;) {
      const now = this.#now().getTime();
      const index = this.#waiting.findIndex(({ dueAt }) => dueAt <= now);
      const [due] = index < 0 ? [] : this.#waiting.splice(index, 1);
      if (due === undefined) return total;
      total += 1;
      if (total > MESSAGES_MAX) throw new Error("the queues did not run dry");
      await workers.find(({ queue }) => queue === due.queue)?.handle(services, due.message);
    }
  }
}
