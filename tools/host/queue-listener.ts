import type { QueueClient } from "@azure/storage-queue";
import type { HostLog } from "./host-log.ts";
import type { QueueOptions } from "./host-json.ts";
import { pause } from "./pause.ts";
import { IN_FLIGHT_SECONDS, isGone, QueueProcessor } from "./queue-processor.ts";
import type { QueueProcessorOptions } from "./queue-processor.ts";

const FIRST_PAUSE_MS = 100;

/**
 * Polls one queue: immediately again after a poll that found something, with growing pauses after one that did not. A
 * new batch is fetched as soon as no more than `newBatchThreshold` messages are being processed.
 */
export class QueueListener {
  readonly #queue: QueueClient;
  readonly #options: QueueOptions;
  readonly #processor: QueueProcessor;
  readonly #log: HostLog;
  readonly #processing = new Set<Promise<void>>();
  readonly #stop = new AbortController();
  #loop: Promise<void> = Promise.resolve();
  #isFailing = false;

  constructor(options: QueueProcessorOptions) {
    this.#queue = options.queue;
    this.#options = options.options;
    this.#processor = new QueueProcessor(options);
    this.#log = options.log;
  }

  /** Whether a message is being processed. */
  get isBusy(): boolean {
    return this.#processing.size > 0;
  }

  start(): void {
    this.#loop = this.#run();
  }

  /**
   * Ends polling. A poll that is under way is waited for, and what it received is processed: dropped, those messages
   * would stay invisible for ten minutes.
   */
  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#loop;
    await Promise.all(this.#processing);
  }

  async #run(): Promise<void> {
    const { signal } = this.#stop;
    let pauseMs = FIRST_PAUSE_MS;
    while (!signal.aborted) {
      if (await this.#poll()) {
        pauseMs = FIRST_PAUSE_MS;
        while (this.#processing.size > this.#options.newBatchThreshold && !signal.aborted)
          await Promise.race(this.#processing);
      } else {
        await pause(pauseMs, signal);
        pauseMs = Math.min(2 * pauseMs, this.#options.maxPollingInterval);
      }
    }
  }

  /** Returns whether a message was found. The listener outlives a storage that is away. */
  async #poll(): Promise<boolean> {
    try {
      const { receivedMessageItems } = await this.#queue.receiveMessages({
        numberOfMessages: this.#options.batchSize,
        visibilityTimeout: IN_FLIGHT_SECONDS,
      });
      if (this.#isFailing)
        this.#log.write("information", `queue ${this.#queue.name} answers again`);
      this.#isFailing = false;
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
      if (!this.#isFailing)
        this.#log.write("error", `queue ${this.#queue.name} can't be polled: ${String(cause)}`);
      this.#isFailing = true;
    }
  }
}
