import { randomUUID } from "node:crypto";
import { QueueServiceClient } from "@azure/storage-queue";
import type { QueueClient } from "@azure/storage-queue";
import { describe, expect, inject, test } from "vitest";
import { decodeMessage } from "../../../tools/host/queue-processor.ts";
import { startHostProcess, until } from "./host-process.ts";
import type { HostProcess, HostProcessOptions } from "./host-process.ts";

interface QueueRun {
  readonly message: unknown;
  readonly metadata: Record<string, unknown>;
  readonly at: number;
}

function encoded(content: unknown): string {
  return Buffer.from(JSON.stringify(content)).toString("base64");
}

async function startWithQueue(options: HostProcessOptions = {}): Promise<{
  host: HostProcess;
  queue: QueueClient;
  poison: QueueClient;
  runs: () => Promise<QueueRun[]>;
}> {
  const name = options.env?.["WORK_QUEUE"] ?? `work-${randomUUID()}`.slice(0, 40);
  const host = await startHostProcess({
    ...options,
    env: { WORK_QUEUE: name, FixtureStorage: inject("azurite"), ...options.env },
  });
  const service = QueueServiceClient.fromConnectionString(inject("azurite"));
  const queue = service.getQueueClient(name);
  await until(async () => (await queue.exists()) || undefined);
  return {
    host,
    queue,
    poison: service.getQueueClient(`${name}-poison`),
    runs: async () => {
      const response = await fetch(`${host.url}/state`);
      return ((await response.json()) as { queueRuns: QueueRun[] }).queueRuns;
    },
  };
}

/** All messages, the invisible ones too. */
async function count(queue: QueueClient): Promise<number> {
  return (await queue.getProperties()).approximateMessagesCount ?? 0;
}

async function poisoned(poison: QueueClient): Promise<string> {
  return until(async () => {
    if (!(await poison.exists())) return undefined;
    return (await poison.peekMessages()).peekedMessageItems[0]?.messageText;
  });
}

function queueOptions(queues: object): object {
  return {
    version: "2.0",
    extensions: { queues: { maxPollingInterval: "00:00:00.250", ...queues } },
  };
}

describe("a queue function of the local host", () => {
  test("gets a message soon after it was sent, as parsed JSON with its metadata, and the message is gone", async () => {
    const { queue, runs } = await startWithQueue();
    const sentAt = Date.now();
    const { messageId } = await queue.sendMessage(encoded({ postId: "p1", n: 1 }));
    const [run] = await until(async () => {
      const seen = await runs();
      return seen.length > 0 ? seen : undefined;
    });
    // Polls are 250 ms apart at most; the rest is room for a busy machine.
    expect((run?.at ?? Infinity) - sentAt).toBeLessThan(2_000);
    expect(run?.message).toEqual({ postId: "p1", n: 1 });
    expect(run?.metadata).toMatchObject({
      id: messageId,
      dequeueCount: 1,
      queueTrigger: { postId: "p1", n: 1 },
      popReceipt: expect.any(String) as string,
      insertionTime: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*\+00:00$/) as string,
      expirationTime: expect.stringMatching(/\+00:00$/) as string,
      nextVisibleTime: expect.stringMatching(/\+00:00$/) as string,
    });
    await until(async () => (await count(queue)) === 0 || undefined);
  });

  test("a queue function of the local host that fails is run again, dequeueCount growing to the limit, and then the message is poison", async () => {
    const { queue, poison, runs, host } = await startWithQueue({
      hostJson: queueOptions({ maxDequeueCount: 5, visibilityTimeout: "00:00:00" }),
    });
    await queue.sendMessage(encoded({ fail: true }));
    expect(await poisoned(poison)).toBe(encoded({ fail: true }));
    const counts = (await runs()).map(({ metadata }) => metadata["dequeueCount"]);
    expect(counts).toEqual([1, 2, 3, 4, 5]);
    await until(async () => (await count(queue)) === 0 || undefined);
    expect(host.output()).toContain("Error: the message fails");
  });

  test("a queue function of the local host that fails waits for visibilityTimeout before it is run again", async () => {
    const { queue, runs } = await startWithQueue({
      hostJson: queueOptions({ visibilityTimeout: "00:00:01" }),
    });
    await queue.sendMessage(encoded({ fail: true }));
    const [first, second] = await until(async () => {
      const seen = await runs();
      return seen.length >= 2 ? seen : undefined;
    });
    expect((second?.at ?? 0) - (first?.at ?? 0)).toBeGreaterThan(900);
  });

  test.each([
    ["JSON that was not encoded", JSON.stringify({ a: 1 })],
    ["base64 of what is no UTF-8", Buffer.from([0xff, 0xfe, 0x80]).toString("base64")],
  ])("a queue function never sees %s: that is poison as it came", async (_what, text) => {
    const { queue, poison, runs } = await startWithQueue();
    await queue.sendMessage(text);
    expect(await poisoned(poison)).toBe(text);
    expect(await runs()).toEqual([]);
    await until(async () => (await count(queue)) === 0 || undefined);
  });

  test("a queue function of the local host never sees a message that was taken more often than allowed: a crash loop ends", async () => {
    const name = `crash-${randomUUID()}`.slice(0, 40);
    const service = QueueServiceClient.fromConnectionString(inject("azurite"));
    const queue = service.getQueueClient(name);
    await queue.create();
    await queue.sendMessage(encoded({ crashes: true }));
    for (let taken = 0; taken < 2; taken += 1) {
      const { receivedMessageItems } = await queue.receiveMessages({ visibilityTimeout: 600 });
      const [message] = receivedMessageItems;
      if (message === undefined) throw new Error("the message is not there");
      await queue.updateMessage(message.messageId, message.popReceipt, undefined, 0);
    }
    const { runs } = await startWithQueue({
      env: { WORK_QUEUE: name },
      hostJson: queueOptions({ maxDequeueCount: 2 }),
    });
    expect(await poisoned(service.getQueueClient(`${name}-poison`))).toBe(
      encoded({ crashes: true }),
    );
    expect(await runs()).toEqual([]);
  });

  test("keeps a message invisible to others while it runs", async () => {
    const { queue, runs } = await startWithQueue({ env: { FIXTURE_RUN_MS: "60000" } });
    await queue.sendMessage(encoded({ long: true }));
    const [run] = await until(async () => {
      const seen = await runs();
      return seen.length > 0 ? seen : undefined;
    });
    const hiddenMs = Date.parse(String(run?.metadata["nextVisibleTime"])) - Date.now();
    expect(hiddenMs).toBeGreaterThan(590_000);
    expect(hiddenMs).toBeLessThanOrEqual(601_000);
    expect((await queue.receiveMessages()).receivedMessageItems).toEqual([]);
  });

  test("runs up to batchSize and newBatchThreshold messages side by side, and no more", async () => {
    const { queue, runs } = await startWithQueue({
      env: { FIXTURE_RUN_MS: "1500" },
      hostJson: queueOptions({ batchSize: 2, newBatchThreshold: 1 }),
    });
    await Promise.all(Array.from({ length: 6 }, (_, n) => queue.sendMessage(encoded({ n }))));
    const seen = await until(async () => {
      const all = await runs();
      return all.length === 6 ? all : undefined;
    });
    const starts = seen.map(({ at }) => at);
    const together = starts.map(
      (start) => starts.filter((other) => other <= start && other > start - 1_490).length,
    );
    expect(Math.max(...together)).toBeGreaterThan(1);
    expect(Math.max(...together)).toBeLessThanOrEqual(3);
  });

  test("waits for a storage that is away without ending the host", async () => {
    const host = await startHostProcess({
      env: {
        WORK_QUEUE: "work",
        FixtureStorage: inject("azurite").replaceAll(/127\.0\.0\.1:\d+/g, "127.0.0.1:9"),
      },
    });
    await until(() => host.output().includes("queue work can't be polled") || undefined);
    expect((await fetch(`${host.url}/state`)).status).toBe(200);
  });
});

test.each([
  ["e30=", "{}"],
  ["", ""],
  ["w6Q=", "ä"],
  ["{}", undefined],
  ["e30", undefined],
  ["/w==", undefined],
])("the text %j of a message is %j", (text, decoded) => {
  expect(decodeMessage(text)).toBe(decoded);
});
