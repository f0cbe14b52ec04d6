import type { Worker } from "../../src/shared/host/worker.ts";
import type { Services } from "../../src/shared/compose.ts";
import type { MessageQueue, PoisonQueue } from "../../src/shared/runtime/storage/queue.ts";

/** A message that waits in a queue, as its receiver reads it. */
export interface Message {
  readonly queue: string;
  readonly message: object;
  /** How often it was handed out before. */
  readonly deliveries: number;
  readonly dueAt: number;
}

/** What becomes of a message that is sent. The sender of one that is refused gets an error, whether it is kept or not. */
export type MessageFate = "keep" | "lose" | "double" | "refuse" | "keep_and_refuse";

const COPIES: Readonly<Record<MessageFate, number>> = {
  keep: 1,
  lose: 0,
  double: 2,
  refuse: 0,
  keep_and_refuse: 1,
};
/** What a sender gets of a queue that does not answer. */
export const NO_ANSWER = "the queue does not answer";
const MESSAGES_MAX = 40_000;

/** The queues of one deployment: messages in the order in which they were sent, each of which is due at its time. */
export class QueueModel {
  readonly #now: () => number;
  readonly #waiting: Message[];
  /** Messages that the host moved to a poison queue. */
  readonly #poison: { readonly queue: string; readonly text: string }[];
  /** Chooses what becomes of a message; what it throws, the sender gets. */
  onSend: (message: object) => MessageFate = () => "keep";

  /** `same` are the queues of another process of the deployment: what one sends, the other may take. */
  constructor(now: () => number, same?: QueueModel) {
    this.#now = now;
    this.#waiting = same === undefined ? [] : same.#waiting;
    this.#poison = same === undefined ? [] : same.#poison;
  }

  /** Returns a queue as its senders reach it. */
  open(queue: string): MessageQueue {
    return {
      send: async (message, delaySeconds) => this.send(queue, message, delaySeconds),
      ping: () => Promise.resolve(),
    };
  }

  /** Returns a poison queue as its reader reaches it, by default without a way that could fail. */
  openPoison(
    queue: string,
    call: <T>(reach: () => T) => Promise<T> = async (reach) => reach(),
  ): PoisonQueue {
    return {
      receive: () =>
        call(() => {
          const found = this.#poison.filter((message) => message.queue === queue);
          return found.map((message) => ({
            text: message.text,
            remove: () => call(() => void this.#poison.splice(this.#poison.indexOf(message), 1)),
          }));
        }),
    };
  }

  /** Moves a message to the poison queue, as the host does with one that failed at every delivery. */
  poison(queue: string, text: string): void {
    this.#poison.push({ queue: `${queue}-poison`, text });
  }

  send(queue: string, message: object, delaySeconds = 0): void {
    const fate = this.onSend(message);
    for (let copy = 0; copy < COPIES[fate]; copy += 1)
      this.put({ queue, message, deliveries: 0 }, delaySeconds * 1000);
    if (fate === "refuse" || fate === "keep_and_refuse") throw new Error(NO_ANSWER);
  }

  /** Takes in one more message, as the text that it is sent as. */
  put({ queue, message, deliveries }: Omit<Message, "dueAt">, delayMs: number): void {
    const read = JSON.parse(JSON.stringify(message)) as object;
    this.#waiting.push({ queue, message: read, deliveries, dueAt: this.#now() + delayMs });
  }

  get waiting(): readonly Message[] {
    return this.#waiting;
  }

  get length(): number {
    return this.#waiting.length;
  }

  /** Removes the first message that is due and returns it. */
  takeDue(): Message | undefined {
    const now = this.#now();
    const index = this.#waiting.findIndex(({ dueAt }) => dueAt <= now);
    return index < 0 ? undefined : this.#waiting.splice(index, 1)[0];
  }

  /** Hands every due message to its worker until none is left, and returns how many there were. */
  async drain(workers: readonly Worker[], services: Services): Promise<number> {
    for (let total = 0; total <= MESSAGES_MAX; total += 1) {
      const due = this.takeDue();
      if (due === undefined) return total;
      await workers.find(({ queue }) => queue === due.queue)?.handle(services, due.message);
    }
    throw new Error("the queues did not run dry");
  }
}
