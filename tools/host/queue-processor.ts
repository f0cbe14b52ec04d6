import type { DequeuedMessageItem, QueueClient } from "@azure/storage-queue";
import type { InvocationResult, TriggerData } from "./invocation.ts";
import type { HostLog } from "./host-log.ts";
import { errorText } from "./host-log.ts";
import type { QueueOptions } from "./host-json.ts";

/**
 * How long a message that is processed stays invisible. `visibilityTimeout` is for failed ones and changes nothing here.
 * The Functions host renews it. Here no function runs longer than this: see `functionTimeout` in host-json.ts.
 */
export const IN_FLIGHT_SECONDS = 600;
const NEVER_EXPIRES = -1;

export interface QueueProcessorOptions {
  readonly queue: QueueClient;
  readonly poisonQueue: QueueClient;
  readonly options: QueueOptions;
  readonly invoke: (trigger: TriggerData) => Promise<InvocationResult>;
  readonly log: HostLog;
}

/** The way of one message from its receipt to its deletion, its return or the poison queue. */
export class QueueProcessor {
  readonly #options: QueueProcessorOptions;

  constructor(options: QueueProcessorOptions) {
    this.#options = options;
  }

  /** Never rejects: a message that could not be settled comes back when its invisibility is over. */
  async process(message: DequeuedMessageItem): Promise<void> {
    try {
      await this.#process(message);
    } catch (error) {
      this.#log("error", message, `could not be settled\n${errorText(error)}`);
    }
  }

  async #process(message: DequeuedMessageItem): Promise<void> {
    const { queue, options, invoke } = this.#options;
    const { maxDequeueCount, visibilityTimeout } = options;
    const tooOften = `has reached maxDequeueCount of ${maxDequeueCount}`;
    const text = decodeMessage(message.messageText);
    if (text === undefined) return this.#toPoison(message, "is not valid base64 of UTF-8 text");
    // A host that dies takes no notice of a failure: without this, a message that kills it would come back for ever.
    if (message.dequeueCount > maxDequeueCount) return this.#toPoison(message, tooOften);

    const { messageId, popReceipt } = message;
    const { succeeded } = await invoke(toTriggerData(message, text));
    if (succeeded) await unlessGone(queue.deleteMessage(messageId, popReceipt));
    else if (message.dequeueCount >= maxDequeueCount) await this.#toPoison(message, tooOften);
    else {
      const seconds = Math.ceil(visibilityTimeout / 1000);
      await unlessGone(queue.updateMessage(messageId, popReceipt, undefined, seconds));
    }
  }

  /** Moves the text as it came, so that nothing of a malformed message is lost. */
  async #toPoison(message: DequeuedMessageItem, why: string): Promise<void> {
    const { queue, poisonQueue } = this.#options;
    this.#log("warning", message, `${why}: moving it to ${poisonQueue.name}`);
    await poisonQueue.createIfNotExists();
    await poisonQueue.sendMessage(message.messageText, { messageTimeToLive: NEVER_EXPIRES });
    await unlessGone(queue.deleteMessage(message.messageId, message.popReceipt));
  }

  #log(level: "error" | "warning", { messageId }: DequeuedMessageItem, what: string): void {
    const { log, queue } = this.#options;
    log.write(level, `message ${messageId} of queue ${queue.name} ${what}`);
  }
}

/** Returns whether a storage call failed because the message or its queue is another's or no longer there. */
export function isGone(error: unknown): boolean {
  const { statusCode, code } = error as { statusCode?: number; code?: string };
  return statusCode === 404 || code === "PopReceiptMismatch" || code === "QueueBeingDeleted";
}

async function unlessGone(call: Promise<unknown>): Promise<void> {
  try {
    await call;
  } catch (error) {
    if (!isGone(error)) throw error;
  }
}

const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

/** Returns the text a function gets, or undefined when the message is not what `messageEncoding` promises. */
export function decodeMessage(text: string): string | undefined {
  if (!BASE64.test(text)) return undefined;
  try {
    const bytes = Buffer.from(text, "base64");
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

/** Returns what the storage extension passes to a function. The library parses a text that is JSON. */
function toTriggerData(message: DequeuedMessageItem, text: string): TriggerData {
  return {
    input: { string: text },
    metadata: {
      QueueTrigger: { string: text },
      DequeueCount: { json: String(message.dequeueCount) },
      ExpirationTime: { string: dotNetTime(message.expiresOn) },
      Id: { string: message.messageId },
      InsertionTime: { string: dotNetTime(message.insertedOn) },
      NextVisibleTime: { string: dotNetTime(message.nextVisibleOn) },
      PopReceipt: { string: message.popReceipt },
    },
  };
}

/** Returns a time as .NET's DateTimeOffset: whole seconds have no fraction, and UTC is an offset. */
export function dotNetTime(time: Date): string {
  return time.toISOString().replace(/(?:\.000)?Z$/, "+00:00");
}
