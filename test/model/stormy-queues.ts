import { DEQUEUES_MAX } from "../../src/shared/host/worker.ts";
import type { MessageQueue, PoisonQueue } from "../../src/shared/runtime/storage/queue.ts";
import type { Machine, Nature } from "./machine.ts";
import { QueueModel, type Message, type MessageFate } from "./queue-model.ts";

/** How long the host's polling may take to see a message. */
const POLL_MS_MAX = 250;
const STRAY_MS_MAX = 120_000;
/** As long as the product waits for the queue service. */
const CALL_MS_MAX = 10_000;
/** What a host could not handle is seen again after this long. */
const FAILED_MS = 30_000;
/** What a dead host had taken is seen again after this long. */
const HOST_DEAD_MS = 600_000;

/** Queues in virtual time that lose, double, delay and reorder messages; `deliver` hands one to some process. */
export class StormyQueues extends QueueModel {
  readonly #nature: Nature;
  deliver: (message: Message) => void = () => undefined;
  /** Messages that nobody handled to its end yet. */
  pending = 0;

  constructor(nature: Nature) {
    super(() => nature.time.now);
    this.#nature = nature;
    this.onSend = () => this.#fate();
  }

  /** Returns a queue as one process reaches it. */
  openFor(machine: Machine, queue: string): MessageQueue {
    return {
      send: (message, delaySeconds) => {
        const send = () => this.send(queue, message, delaySeconds);
        return machine.call(send, this.#nature.time.now + CALL_MS_MAX);
      },
      ping: () => Promise.resolve(),
    };
  }

  /** Returns a poison queue as one process reaches it. */
  openPoisonFor(machine: Machine, queue: string): PoisonQueue {
    return this.openPoison(queue, (reach) =>
      machine.call(reach, this.#nature.time.now + CALL_MS_MAX),
    );
  }

  #fate(): MessageFate {
    const { random, rates, counts } = this.#nature;
    if (!random.chance(rates.send)) return "keep";
    const fate = random.pick(["lose", "lose", "double", "refuse", "keep_and_refuse"] as const);
    if (fate === "lose") counts.lostMessages += 1;
    if (fate === "double") counts.doubledMessages += 1;
    return fate;
  }

  override put(message: Omit<Message, "dueAt">, delayMs: number): void {
    const { random, rates, time } = this.#nature;
    const stray = random.chance(rates.send / 3) ? random.below(STRAY_MS_MAX) : 0;
    const wholeMs = delayMs + random.below(POLL_MS_MAX) + stray;
    this.pending += 1;
    super.put(message, wholeMs);
    time.set(() => {
      const due = this.takeDue();
      if (due === undefined) throw new Error("a message is gone before its time");
      this.deliver(due);
    }, wholeMs);
  }

  /** Ends a message that was handled; it is seen once more all the same, now and then. */
  done(message: Message): void {
    const { random, rates, counts } = this.#nature;
    this.pending -= 1;
    if (!random.chance(rates.send / 3)) return;
    counts.doubledMessages += 1;
    this.put(message, 0);
  }

  /** Hands out again a message that could not be handled. */
  failed(message: Message): void {
    this.#again(message, FAILED_MS);
  }

  /** Hands out again, much later, a message whose host died over it. */
  abandoned(message: Message): void {
    this.#again(message, HOST_DEAD_MS);
  }

  /** A message that was delivered often enough is moved to the poison queue. */
  #again(message: Message, afterMs: number): void {
    this.pending -= 1;
    const deliveries = message.deliveries + 1;
    if (deliveries < DEQUEUES_MAX) return this.put({ ...message, deliveries }, afterMs);
    this.poison(message.queue, JSON.stringify(message.message));
  }
}
