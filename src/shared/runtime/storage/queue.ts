import type { QueueClient } from "@azure/storage-queue";
import { failureOf } from "./failure.ts";
import * as z from "zod";
import { currentTraceParent } from "../telemetry/work-context.ts";
import { Batcher } from "../batcher.ts";

const CALL_TIMEOUT_MS = 10_000;
/** Few enough that one process can work on all of them in parallel, in addition to its other work. */
const HINTS_MAX = 8;
/** Later hints stop waiting for a send that takes longer than this. */
const STALL_MS = 500;
/** The service's limit is seven days. A worker that gets a hint too early sends it again with the rest of the delay. */
const DELAY_SECONDS_MAX = 6 * 24 * 3600;

/** A received message. It becomes visible again unless it is removed. */
export interface ReceivedMessage {
  readonly text: string;
  readonly remove: () => Promise<void>;
}

/** A queue as its senders see it. The host hands its messages to the workers. */
export interface MessageQueue {
  send(message: object, delaySeconds?: number): Promise<void>;
  ping(): Promise<void>;
}

/** The queue to which the host moves a message after its last failed delivery. */
export interface PoisonQueue {
  /** Returns some of the messages, or none if the queue doesn't exist. */
  receive(): Promise<readonly ReceivedMessage[]>;
}

const isMissingQueue = (error: unknown) => failureOf(error).code === "QueueNotFound";

/** The service's maximum per call. */
const RECEIVED_MAX = 32;

/** A queue of hints. Messages contain only ids, so losing, repeating or reordering them does no harm. */
export class Queue implements MessageQueue, PoisonQueue {
  readonly #open: () => Promise<QueueClient>;
  #client: Promise<QueueClient> | undefined;

  constructor(open: () => Promise<QueueClient>) {
    this.#open = open;
  }

  /**
   * Sends a message in the format that the Functions trigger reads (base64 JSON), visible after the delay. A send is
   * not retried: after a lost answer, it would enqueue the message twice, and the sweep sends lost hints again anyway.
   */
  async send(message: object, delaySeconds = 0): Promise<void> {
    const client = await this.#opened();
    const text = Buffer.from(JSON.stringify(message)).toString("base64");
    const send = () =>
      client.sendMessage(text, {
        // With the default of seven days, messages would expire unseen when a queue is stopped for a week.
        messageTimeToLive: -1,
        visibilityTimeout: Math.min(Math.max(0, Math.ceil(delaySeconds)), DELAY_SECONDS_MAX),
        abortSignal: AbortSignal.timeout(CALL_TIMEOUT_MS),
      });
    try {
      await send();
    } catch (error) {
      if (!isMissingQueue(error)) throw error;
      await client.createIfNotExists({ abortSignal: AbortSignal.timeout(CALL_TIMEOUT_MS) });
      await send();
    }
  }

  async receive(): Promise<readonly ReceivedMessage[]> {
    const client = await this.#opened();
    const limits = () => ({ abortSignal: AbortSignal.timeout(CALL_TIMEOUT_MS) });
    try {
      const asked = { numberOfMessages: RECEIVED_MAX, ...limits() };
      const { receivedMessageItems } = await client.receiveMessages(asked);
      return receivedMessageItems.map(({ messageId, popReceipt, messageText }) => {
        const bytes = Buffer.from(messageText, "base64");
        return {
          // Text that isn't base64 stays unchanged.
          text: bytes.toString("base64") === messageText ? bytes.toString() : messageText,
          remove: async () => void (await client.deleteMessage(messageId, popReceipt, limits())),
        };
      });
    } catch (error) {
      if (isMissingQueue(error)) return [];
      throw error;
    }
  }

  /** Checks that the queue service answers. @throws Error when it doesn't */
  async ping(): Promise<void> {
    const client = await this.#opened();
    await client.exists({ abortSignal: AbortSignal.timeout(CALL_TIMEOUT_MS) });
  }

  #opened(): Promise<QueueClient> {
    this.#client ??= this.#open();
    return this.#client;
  }
}

/** Fields that every hint has in addition to its ids. */
interface HintFrame {
  readonly v: 1;
  readonly trace?: string | undefined;
}

/** The fields of a hint without those that the queue adds. */
type HintFields<Hint> = Hint extends HintFrame ? Omit<Hint, keyof HintFrame> : never;

/** Makes the schema of one kind of hint from its own fields. */
export const hintOf = <const Kind extends string, Own extends z.ZodRawShape>(
  kind: Kind,
  fields: Own,
) =>
  z.object({
    v: z.literal(1),
    kind: z.literal(kind),
    ...fields,
    trace: z.string().optional().catch(undefined),
  });

function withTrace(hint: object): object {
  const trace = currentTraceParent();
  return { v: 1, ...(trace === undefined ? {} : { trace }), ...hint };
}

/**
 * A queue of typed hints. The rows that they name are the truth, so a hint may be lost, repeated, early or late.
 *
 * Only one message is being sent at a time. Hints that arrive meanwhile share the next message, and equal ones are sent
 * once. An idle process sends immediately. The message's own fields are the first hint, and `more` has the others.
 */
export class HintQueue<Hint extends HintFrame> {
  readonly #queue: MessageQueue;
  readonly #hints: Batcher<object, void>;

  constructor(queue: MessageQueue) {
    this.#queue = queue;
    this.#hints = new Batcher({
      async run(batch) {
        const [first, ...others] = batch.map(({ item }) => item);
        await queue.send({ ...first, ...(others.length > 0 && { more: others }) });
        for (const { resolve } of batch) resolve();
      },
      max: HINTS_MAX,
      stallMs: STALL_MS,
    });
  }

  /** Sends a hint with the current trace, visible after the delay. A hint with a delay gets a message of its own. */
  async hint(fields: HintFields<Hint>, delaySeconds = 0): Promise<void> {
    const hint = withTrace(fields);
    if (delaySeconds > 0) return this.#queue.send(hint, delaySeconds);
    return this.#hints.add(hint, JSON.stringify(fields));
  }

  sendAlone(hint: Hint, delaySeconds = 0): Promise<void> {
    return this.#queue.send(withTrace(hint), delaySeconds);
  }

  async ping(): Promise<void> {
    await this.#queue.ping();
  }
}
