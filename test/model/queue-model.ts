import type { MessageQueue } from "../../src/shared/runtime/storage/queue.ts";
import type { Machine, Nature } from "./machine.ts";

export interface Message {
  readonly queue: string;
  readonly text: string;
  readonly deliveries: number;
}

/** How long the host's polling may take to see a message. */
const POLL_MS_MAX = 250;
const STRAY_MS_MAX = 120_000;
/** The host takes a message that it could not handle this often, then it puts it aside. */
const DELIVERIES_MAX = 5;
/** What a dead host had taken is seen again after this long. */
const HOST_DEAD_MS = 600_000;

/** Queues that lose, double, delay and reorder; `deliver` hands a message to some process. */
export class QueueModel {
  readonly #nature: Nature;
  deliver: (message: Message) => void = () => undefined;
  /** Messages that nobody handled to its end yet. */
  pending = 0;

  constructor(nature: Nature) {
    this.#nature = nature;
  }

  /** As one process reaches it. */
  open(machine: Machine, queue: string): MessageQueue {
    return {
      send: (message, delaySeconds = 0) =>
        machine.call(() => this.#arrive(queue, message, delaySeconds)),
      ping: () => Promise.resolve(),
    };
  }

  #arrive(queue: string, message: object, delaySeconds: number): void {
    const { random, rates, counts } = this.#nature;
    const once = () =>
      this.#put({ queue, text: JSON.stringify(message), deliveries: 0 }, delaySeconds);
    if (!random.chance(rates.send)) return once();
    switch (random.pick(["lost", "lost", "doubled", "refused", "kept_and_refused"])) {
      case "lost":
        counts.lostMessages += 1;
        return;
      case "doubled":
        counts.doubledMessages += 1;
        once();
        return once();
      case "kept_and_refused":
        once();
        throw new Error("the queue does not answer");
      default:
        throw new Error("the queue does not answer");
    }
  }

  #put(message: Message, delaySeconds: number): void {
    const { random, rates, time } = this.#nature;
    this.pending += 1;
    const stray = random.chance(rates.send / 3) ? random.below(STRAY_MS_MAX) : 0;
    const delayMs = delaySeconds * 1000 + random.below(POLL_MS_MAX) + stray;
    time.set(() => this.deliver(message), delayMs);
  }

  /** Handled to its end; seen once more all the same, now and then. */
  done(message: Message): void {
    const { random, rates, counts } = this.#nature;
    this.pending -= 1;
    if (!random.chance(rates.send / 3)) return;
    counts.doubledMessages += 1;
    this.#put(message, 0);
  }

  failed(message: Message): void {
    this.pending -= 1;
    const deliveries = message.deliveries + 1;
    if (deliveries < DELIVERIES_MAX) this.#put({ ...message, deliveries }, 0);
  }

  /** Its host died over it. */
  abandoned(message: Message): void {
    this.pending -= 1;
    this.#put({ ...message, deliveries: message.deliveries + 1 }, HOST_DEAD_MS / 1000);
  }
}
