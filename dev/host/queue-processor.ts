import type { DequeuedMessageItem, QueueClient } from "@azure/storage-queue";
import type { InvocationResult, TriggerData } from "./invocation.ts";
import type { HostLog } from "./host-log.ts";
import { errorText } from "./host-log.ts";
import type { QueueOptions } from "./host-json.ts";
import { decodeMessage, toTriggerData } from "./queue-message.ts";
import { isGone } from "./queue-client.ts";

/** How long a message that is being worked on stays invisible; `visibilityTimeout` is for failed ones and changes nothing here. */
export const IN_FLIGHT_SECONDS = 600;
const RENEW_MS = (IN_FLIGHT_SECONDS * 1000) / 2;
const RENEW_AGAIN_MS = 60_000;
const NEVER_EXPIRES = -1;

export interface QueueProcessorOptions {
  readonly queue: QueueClient;
  /** None for a queue that is itself a poison queue. */
  readonly poisonQueue: QueueClient | undefined;
  readonly options: QueueOptions;
  readonly invoke: (trigger: TriggerData) => Promise<InvocationResult>;
  readonly log: HostLog;
}

/** The way of one message from its receipt to its deletion, its return or the poison queue. */
export class QueueProcessor {
  readonly #queue: QueueClient;
  readonly #poisonQueue: QueueClient | undefined;
  readonly #options: QueueOptions;
  readonly #invoke: (trigger: TriggerData) => Promise<InvocationResult>;
  readonly #log: HostLog;

  constructor({ queue, poisonQueue, options, invoke, log }: QueueProcessorOptions) {
    this.#queue = queue;
    this.#poisonQueue = poisonQueue;
    this.#options = options;
    this.#invoke = invoke;
    this.#log = log;
  }

  /** Never rejects: a message that storage would not let go of comes back when its invisibility is over. */
  async process(message: DequeuedMessageItem): Promise<void> {
    try {
      await this.#process(message);
    } catch (error) {
      this.#log.write(
        "error",
        `message ${message.messageId} of queue ${this.#queue.name} could not be settled\n${errorText(error)}`,
      );
    }
  }

  async #process(message: DequeuedMessageItem): Promise<void> {
    const text = decodeMessage(message.messageText, this.#options.messageEncoding);
    if (text === undefined)
      return this.#toPoison(message, message.popReceipt, "is not valid base64 of UTF-8 text");
    const { maxDequeueCount } = this.#options;
    // A host that dies takes no notice of a failure: without this, a message that kills it would come back for ever.
    if (this.#poisonQueue !== undefined && message.dequeueCount > maxDequeueCount)
      return this.#toPoison(message, message.popReceipt, tooOften(maxDequeueCount));

    const renewal = this.#keepInvisible(message);
    const result = await this.#invoke(toTriggerData(message, text));
    const popReceipt = await renewal.stop();

    if (result.succeeded) await this.#delete(message, popReceipt);
    else if (this.#poisonQueue === undefined) return;
    else if (message.dequeueCount >= maxDequeueCount)
      await this.#toPoison(message, popReceipt, tooOften(maxDequeueCount));
    else await this.#release(message, popReceipt);
  }

  /** Each renewal changes the pop receipt, and only the last one deletes. */
  #keepInvisible(message: DequeuedMessageItem): { stop(): Promise<string> } {
    let popReceipt = message.popReceipt;
    let stopped = false;
    let renewing: Promise<void> = Promise.resolve();
    let timer: NodeJS.Timeout;
    const renew = async (): Promise<void> => {
      let delayMs = RENEW_MS;
      try {
        const updated = await this.#queue.updateMessage(
          message.messageId,
          popReceipt,
          undefined,
          IN_FLIGHT_SECONDS,
        );
        popReceipt = updated.popReceipt ?? popReceipt;
      } catch (error) {
        if (isGone(error)) return;
        delayMs = RENEW_AGAIN_MS;
        this.#log.write(
          "warning",
          `message ${message.messageId} was not renewed: ${String(error)}`,
        );
      }
      if (!stopped) schedule(delayMs);
    };
    const schedule = (delayMs: number): void => {
      timer = setTimeout(() => {
        renewing = renew();
      }, delayMs);
    };
    schedule(RENEW_MS);
    return {
      stop: async () => {
        stopped = true;
        clearTimeout(timer);
        await renewing;
        return popReceipt;
      },
    };
  }

  async #delete(message: DequeuedMessageItem, popReceipt: string): Promise<void> {
    await unlessGone(this.#queue.deleteMessage(message.messageId, popReceipt));
  }

  async #release(message: DequeuedMessageItem, popReceipt: string): Promise<void> {
    const seconds = Math.ceil(this.#options.visibilityTimeout / 1000);
    await unlessGone(this.#queue.updateMessage(message.messageId, popReceipt, undefined, seconds));
  }

  /** The text goes over as it came, so that nothing of a malformed message is lost. */
  async #toPoison(message: DequeuedMessageItem, popReceipt: string, why: string): Promise<void> {
    const poison = this.#poisonQueue;
    if (poison === undefined) {
      this.#log.write("error", `message ${message.messageId} of ${this.#queue.name} ${why}`);
      return;
    }
    this.#log.write(
      "warning",
      `message ${message.messageId} of ${this.#queue.name} ${why}: moving it to ${poison.name}`,
    );
    const send = (): Promise<unknown> =>
      poison.sendMessage(message.messageText, { messageTimeToLive: NEVER_EXPIRES });
    try {
      await send();
    } catch (error) {
      if (!isGone(error)) throw error;
      await poison.createIfNotExists();
      await send();
    }
    await this.#delete(message, popReceipt);
  }
}

function tooOften(maxDequeueCount: number): string {
  return `has reached maxDequeueCount of ${maxDequeueCount}`;
}

/** Somebody else has the message, or it is gone: there is nothing left to do for us. */
async function unlessGone(call: Promise<unknown>): Promise<void> {
  try {
    await call;
  } catch (error) {
    if (!isGone(error)) throw error;
  }
}
