import type { QueueClient } from "@azure/storage-queue";
import { isMissingContainer } from "./failure.ts";
import * as z from "zod";
import { currentTraceParent } from "../telemetry/work-context.ts";
import { Batcher } from "../batcher.ts";

const CALL_TIMEOUT_MS = 10_000;
/** Few enough for one process to work on all of them at once, beside what it has. */
const HINTS_MAX = 8;
/** Later hints don't wait for a send that takes longer. */
const STALL_MS = 500;
/** The service allows seven days. A worker that gets a hint too early sends it again for the rest of the delay. */
const DELAY_SECONDS_MAX = 6 * 24 * 3600;

/** A message that was received and comes back unless it is removed. */
export interface ReceivedMessage {
  readonly text: string;
  readonly remove: () => Promise<void>;
}

/** A queue as its senders see it. Workers get its messages from the host. */
export interface MessageQueue {
  send(message: object, delaySeconds?: number): Promise<void>;
  ping(): Promise<void>;
}

/** The queue to which the host moves messages of another one that failed at every delivery. */
export interface PoisonQueue {
  /** Returns some of the messages; none if there is no such queue. */
  receive(): Promise<readonly ReceivedMessage[]>;
}

/** As many as the service returns at a time. */
const RECEIVED_MAX = 32;

/** A queue of hints. Messages contain ids alone; losing, doubling or reordering them does no harm. */
export class Queue implements MessageQueue, PoisonQueue {
  readonly #open: () => Promise<QueueClient>;
  #client: Promise<QueueClient> | undefined;

  constructor(open: () => Promise<QueueClient>) {
    this.#open = open;
  }

  /**
   * Sends a message in the form the Functions trigger reads (base64 JSON), to be seen after the delay. Not retried:
   * a repeat after a lost answer would enqueue twice, and the sweep sends lost hints again.
   */
  async send(message: object, delaySeconds = 0): Promise<void> {
    const client = await this.#opened();
    const text = Buffer.from(JSON.stringify(message)).toString("base64");
    const send = () =>
      client.sendMessage(text, {
        // The default of seven days would silently lose the messages of a queue that is stopped for a week.
        messageTimeToLive: -1,
        visibilityTimeout: Math.min(Math.max(0, Math.ceil(delaySeconds)), DELAY_SECONDS_MAX),
        abortSignal: AbortSignal.timeout(CALL_TIMEOUT_MS),
      });
    try {
      await send();
    } catch (error) {
      if (!isMissingContainer(error)) throw error;
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
      return receivedMessageItems.map(({ messageId, popReceipt, messageText }) => ({
        text: decoded(messageText),
        remove: async () => void (await client.deleteMessage(messageId, popReceipt, limits())),
      }));
    } catch (error) {
      if (isMissingContainer(error)) return [];
      throw error;
    }
  }

  /** Checks the queue service. @throws Error when it does not answer */
  async ping(): Promise<void> {
    const client = await this.#opened();
    await client.exists({ abortSignal: AbortSignal.timeout(CALL_TIMEOUT_MS) });
  }

  #opened(): Promise<QueueClient> {
    this.#client ??= this.#open();
    return this.#client;
  }
}

/** Returns the text of a base64 message, and any other text as it is. */
function decoded(text: string): string {
  const bytes = Buffer.from(text, "base64");
  return bytes.toString("base64") === text ? bytes.toString() : text;
}

/** What every hint has beside its ids. */
interface HintFrame {
  readonly v: 1;
  readonly trace?: string | undefined;
}

/** The fields of a hint without those that its queue adds. */
type Fields<Hint> = Hint extends HintFrame ? Omit<Hint, keyof HintFrame> : never;

/** Makes the schema of one kind of hint from the fields that it has of its own. */
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
 * A queue of typed hints. The rows that they name are the truth: a hint may be lost, doubled, early or late.
 *
 * One message at a time is being sent. Hints that come meanwhile share the next one, and equal ones are one hint; an
 * idle process sends at once. A message's own fields are its first hint, `more` has the others.
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

  /** Sends a hint, to be seen after the delay, with the trace of the work under way. One with a delay goes alone. */
  async hint(fields: Fields<Hint>, delaySeconds = 0): Promise<void> {
    const hint = withTrace(fields);
    if (delaySeconds > 0) return this.#queue.send(hint, delaySeconds);
    return this.#hints.add(hint, JSON.stringify(fields));
  }

  /** Sends a hint in a message of its own, with its trace if it has one. */
  sendAlone(hint: Hint, delaySeconds = 0): Promise<void> {
    return this.#queue.send(withTrace(hint), delaySeconds);
  }

  /** Checks the queue service. @throws Error when it does not answer */
  async ping(): Promise<void> {
    await this.#queue.ping();
  }
}
