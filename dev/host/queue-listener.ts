import type { HostLog } from "./host-log.ts";
import { QueueBackoff } from "./queue-backoff.ts";
import { IN_FLIGHT_SECONDS, QueueProcessor } from "./queue-processor.ts";
import type { QueueProcessorOptions } from "./queue-processor.ts";
import type { QueueClient } from "@azure/storage-queue";
import { isGone } from "./queue-client.ts";
import type { QueueOptions } from "./host-json.ts";

/**
 * Polls one queue: at once again after a poll that found something, with growing pauses after one that did not. A new
 * batch is fetched as soon as no more than `newBatchThreshold` messages are being worked on.
 */
export class QueueListener {
  readonly #queue: QueueClient;
  readonly #options: QueueOptions;
  readonly #processor: QueueProcessor;
  readonly #log: HostLog;
  readonly #backoff: QueueBackoff;
  readonly #processing = new Set<Promise<void>>();
  readonly #stop = new AbortController();
  #loop: Promise<void> = Promise.resolve();
  #failing = false;

  constructor(options: QueueProcessorOptions) {
    this.#queue = options.queue;
    this.#options = options.options;
    this.#processor = new QueueProcessor(options);
    this.#log = options.log;
    this.#backoff = new QueueBackoff(options.options.maxPollingInterval);
  }

  /** Whether a message is being worked on. */
  get isBusy(): boolean {
    return this.#processing.size > 0;
  }

  start(): void {
    this.#loop = this.#run();
  }

  /**
   * Ends polling. A poll that is under way is waited for, and what it received is worked on: dropped, those messages
   * would stay invisible for ten minutes.
   */
  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#loop;
    await Promise.all(this.#processing);
  }

  async #run(): Promise<void> {
    const { signal } = this.#stop;
    while (!signal.aborted) {
      if (await this.#poll()) {
        this.#backoff.reset();
        while (this.#processing.size > this.#options.newBatchThreshold && !signal.aborted)
          await Promise.race(this.#processing);
      } else await pause(this.#backoff.nextMs(), signal);
    }
  }

  /** Whether a message was found. Storage that is away is no message: the listener outlives it. */
  async #poll(): Promise<boolean> {
    try {
      const { receivedMessageItems } = await this.#queue.receiveMessages({
        numberOfMessages: this.#options.batchSize,
        visibilityTimeout: IN_FLIGHT_SECONDS,
      });
      if (this.#failing) this.#log.write("information", `queue ${this.#queue.name} answers again`);
      this.#failing = false;
      for (const message of receivedMessageItems) {
        const work = this.#processor.process(message).finally(() => this.#processing.delete(work));
        this.#processing.add(work);
      }
      return receivedMessageItems.length > 0;
    } catch (error) {
      await this.#recover(error);
      return false;
    }
  }

  /**
   * The Functions host only waits for a queue to appear. Here it is made, as nothing else on a developer's machine
   * would before the first message is sent.
   */
  async #recover(error: unknown): Promise<void> {
    try {
      if (!isGone(error)) throw error;
      await this.#queue.createIfNotExists();
    } catch (cause) {
      if (!this.#failing)
        this.#log.write("error", `queue ${this.#queue.name} can't be polled: ${String(cause)}`);
      this.#failing = true;
    }
  }
}

async function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, milliseconds);
  const wake = (): void => resolve();
  signal.addEventListener("abort", wake, { once: true });
  await promise;
  signal.removeEventListener("abort", wake);
  clearTimeout(timer);
}
