import type { QueueClient } from "@azure/storage-queue";
import { isMissingContainer } from "./failure.ts";
import * as z from "zod";
import { shape } from "../shape.ts";
import { currentTraceParent } from "../telemetry/work-context.ts";

const CALL_TIMEOUT_MS = 10_000;
/** The service allows seven days. A worker that gets a hint too early sends it again for the rest of the delay. */
const DELAY_SECONDS_MAX = 6 * 24 * 3600;

/** A queue as its users see it. */
export interface MessageQueue {
  send(message: object, delaySeconds?: number): Promise<void>;
  ping(): Promise<void>;
}

/** A queue of hints. Messages contain ids alone; losing, doubling or reordering them does no harm. */
export class Queue implements MessageQueue {
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
    this.#client ??= this.#open();
    const client = await this.#client;
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

  /** Checks the queue service. @throws Error when it does not answer */
  async ping(): Promise<void> {
    this.#client ??= this.#open();
    await (await this.#client).exists({ abortSignal: AbortSignal.timeout(CALL_TIMEOUT_MS) });
  }
}

/** What every hint has beside its ids. */
interface HintFrame {
  readonly v: 1;
  readonly trace?: string | undefined;
}

/** Declares a kind of hint by the fields that it has of its own. */
export const hintShape = <Fields extends z.ZodRawShape>(fields: () => Fields) =>
  shape(() =>
    z.object({ v: z.literal(1), ...fields(), trace: z.string().optional().catch(undefined) }),
  );

/** A queue of typed hints. The rows that they name are the truth: a hint may be lost, doubled, early or late. */
export class HintQueue<Hint extends HintFrame> {
  readonly #queue: MessageQueue;

  constructor(queue: MessageQueue) {
    this.#queue = queue;
  }

  /** Sends a hint, to be seen after the delay, with the trace of the work under way. */
  async hint(fields: Omit<Hint, keyof HintFrame>, delaySeconds = 0): Promise<void> {
    const trace = currentTraceParent();
    await this.#queue.send(
      { v: 1, ...fields, ...(trace === undefined ? {} : { trace }) },
      delaySeconds,
    );
  }

  /** Checks the queue service. @throws Error when it does not answer */
  async ping(): Promise<void> {
    await this.#queue.ping();
  }
}
