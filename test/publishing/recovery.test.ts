import { describe, expect, test, vi } from "vitest";
import { workers } from "../../src/functions/workers.ts";
import { CRASHES_MAX } from "../../src/shared/publishing/call.ts";
import { publishLegs } from "../../src/shared/publishing/publish/publish-legs.ts";
import type { Services } from "../../src/shared/compose.ts";
import { dataOf } from "../setup/factories.ts";
import { aPublisher, unique, type Publisher } from "../setup/publisher.ts";
import { replaceIn } from "../setup/replace-in.ts";
import { useSandboxedRelay } from "../setup/sandboxed-relay.ts";
import { enqueueDuePosts, findForgottenWork, sweepStalledLegs } from "../setup/walks.ts";

const MINUTE = 60_000;

const { relay, visible } = useSandboxedRelay();

/** A minute of the sweeper, over and over. */
async function sweep(minutes: number): Promise<void> {
  for (let minute = 0; minute < minutes; minute += 1) {
    relay.advance(MINUTE);
    await sweepStalledLegs(relay.services);
    await relay.drain();
  }
}

/** Lets `between` happen after the platform was marked and before its transaction. */
async function submitWith(publisher: Publisher, body: object, between: () => Promise<void>) {
  const { partitions } = relay.services.ledger;
  const commit = partitions.commit.bind(partitions);
  // The method of this one object, put back below.
  partitions.commit = async (platformId, operation) => {
    await between();
    return commit(platformId, operation);
  };
  relay.queues.onSend = () => "lose";
  try {
    return await publisher.submit(body);
  } finally {
    partitions.commit = commit;
    relay.queues.onSend = () => "keep";
  }
}

describe("a process that pauses between its mark and its work", () => {
  const standStill = async () => {
    for (let minute = 0; minute < 6; minute += 1) {
      relay.advance(MINUTE);
      await sweepStalledLegs(relay.services);
    }
  };

  test("the sweep finds the work of a process that paused after its mark, for any time and without a hint", async () => {
    const publisher = await aPublisher(relay);
    const text = unique("Paused");
    const body = { text, platforms: ["bluesky"] };
    const answer = await submitWith(publisher, body, standStill);
    expect(answer.status).toBe(202);
    await sweep(4);
    expect(visible(text)).toHaveLength(1);
  });

  test("the search through all platforms finds the work of a process that paused after its mark and then died", async () => {
    const publisher = await aPublisher(relay);
    const text = unique("Paused and died");
    const body = { text, platforms: ["bluesky"] };
    const { wakes } = relay.services.webhooks;
    const mark = wakes.mark.bind(wakes);
    const standAndDie = async () => {
      await standStill();
      // What it would have done after its transaction is never done.
      wakes.mark = () => Promise.resolve();
    };
    try {
      await submitWith(publisher, body, standAndDie);
    } finally {
      wakes.mark = mark;
    }
    await sweep(4);
    expect(visible(text)).toHaveLength(0);
    await findForgottenWork(relay.services);
    await sweep(2);
    expect(visible(text)).toHaveLength(1);
  });

  test("a post that was due before a paused process stored it starts nevertheless", async () => {
    const publisher = await aPublisher(relay);
    const text = unique("Late and due");
    const scheduleAt = new Date(relay.clock.now().getTime() + 20_000).toISOString();
    const { wakes } = relay.services.webhooks;
    const add = wakes.add.bind(wakes);
    wakes.add = async (row, now) => {
      if (row.kind !== "post") return add(row, now);
      for (let minute = 0; minute < 6; minute += 1) {
        relay.advance(MINUTE);
        await enqueueDuePosts(relay.services);
      }
      return add(row, now);
    };
    relay.queues.onSend = () => "lose";
    try {
      await publisher.submit({ text, platforms: ["bluesky"], scheduleAt });
    } finally {
      wakes.add = add;
      relay.queues.onSend = () => "keep";
    }
    for (let minute = 0; minute < 3; minute += 1) {
      relay.advance(MINUTE);
      await enqueueDuePosts(relay.services);
      await relay.drain();
    }
    expect(visible(text)).toHaveLength(1);
  });
});

describe("the search through all platforms", () => {
  test("the search through all platforms marks only platforms with open work, and can be repeated", async () => {
    const { platform } = (await aPublisher(relay)).application;
    const marked: string[] = [];
    const process = relay.another();
    replaceIn(process.webhooks.wakes, () => ({
      mark: (_kind, id) => Promise.resolve(void marked.push(id)),
    }));
    await findForgottenWork(process);
    await findForgottenWork(process);
    expect(marked).not.toContain(platform.id);
  });
});

describe("a leg that kills its workers", () => {
  /** One worker after the other takes the leg and dies over it, until no other may. */
  async function wearOut(publisher: Publisher, postId: string, services: Services) {
    const hint = { ...publisher.owner, postId, networks: ["bluesky"] } as const;
    let deaths = 0;
    for (let life = 0; life < CRASHES_MAX + 3; life += 1) {
      try {
        await publishLegs(services.publishing, hint);
      } catch {
        deaths += 1;
      }
      relay.advance(121_000);
    }
    return deaths;
  }

  async function submitted(publisher: Publisher) {
    const text = unique("Deadly");
    relay.queues.onSend = () => "lose";
    const post = await publisher.accept({ text, platforms: ["bluesky"] });
    relay.queues.onSend = () => "keep";
    return { text, post };
  }

  test("a leg that kills its workers before it is sent ends as internal_error, is not charged and can be retried", async () => {
    const publisher = await aPublisher(relay);
    const { post } = await submitted(publisher);
    const dying = relay.another();
    replaceIn(dying.publishing.stores.networkAccounts, () => ({
      claimText: () => Promise.reject(new Error("out of memory")),
    }));
    const before = relay.logLines.length;
    const deaths = await wearOut(publisher, post.id, dying);
    expect(deaths).toBe(CRASHES_MAX);
    expect(await publisher.read(post.id)).toMatchObject({
      status: "failed",
      legs: [{ error: { code: "internal_error" }, retryAvailable: true, tokensCharged: 0 }],
    });
    expect(await publisher.balance()).toMatchObject({ tokenReserved: 0 });
    const lines = relay.logLines.slice(before).filter((line) => line.includes("leg_given_up"));
    expect(lines).toHaveLength(1);
    await publisher.retry(post.id);
    expect(await publisher.settle(post.id)).toMatchObject({ status: "succeeded" });
  });

  test("a leg that kills its workers after it may have been sent ends as outcome_unknown and is not charged", async () => {
    const publisher = await aPublisher(relay);
    const { text, post } = await submitted(publisher);
    const request = () => Promise.reject(new Error("out of memory"));
    const dying = relay.another({ outbound: { ...relay.services.connections.outbound, request } });
    const deaths = await wearOut(publisher, post.id, dying);
    expect(deaths).toBe(CRASHES_MAX);
    expect(await publisher.read(post.id)).toMatchObject({
      status: "failed",
      legs: [{ error: { code: "outcome_unknown" }, retryAvailable: true, tokensCharged: 0 }],
    });
    expect(await publisher.balance()).toMatchObject({ tokenReserved: 0 });
    await publisher.retry(post.id);
    expect(await publisher.settle(post.id)).toMatchObject({ status: "succeeded" });
    expect(visible(text)).toHaveLength(1);
  });
});

describe("a message that fails at every delivery", () => {
  const at = (dequeueCount: number) => ({ dequeueCount, write: () => undefined });
  const poisonLines = (from: number) =>
    relay.logLines
      .slice(from)
      .map((line) => JSON.parse(line))
      .filter(({ event }) => event === "poison_message");

  test.each([
    ["no JSON", "\u0000 nonsense"],
    ["nothing", null],
    ["of any size", "x".repeat(60_000)],
    ["nested", { a: { b: [1] } }],
    ["of a later build", { v: 99 }],
  ])("an unreadable message is completed only at its last delivery: %s", async (_, message) => {
    for (const { queue, handle } of workers) {
      const before = relay.logLines.length;
      for (const count of [1, 2, 3, 4])
        await expect(handle(relay.services, message, at(count))).rejects.toThrow();
      expect(poisonLines(before)).toEqual([]);
      await handle(relay.services, message, at(5));
      expect(poisonLines(before)).toMatchObject([
        { level: "error", queue, error: { name: "ZodError" } },
      ]);
      expect(poisonLines(before)[0].hint.length).toBeLessThanOrEqual(4_000);
    }
  });

  test("operators see a message that fails at every delivery, and the sweep does its work", async () => {
    const publisher = await aPublisher(relay);
    const text = unique("Poisoned");
    const sent: object[] = [];
    relay.queues.onSend = (message) => {
      sent.push(message);
      return "lose";
    };
    await publisher.submit({ text, platforms: ["bluesky"] });
    relay.queues.onSend = () => "keep";
    const worker = workers.find(({ queue }) => queue === "publishing");
    const reading = vi.spyOn(relay.services.publishing.stores.posts, "findToPublish");
    reading.mockRejectedValue(new Error("storage is away"));
    const before = relay.logLines.length;
    await worker?.handle(relay.services, sent[0], at(5));
    reading.mockRestore();
    expect(poisonLines(before)).toMatchObject([
      { queue: "publishing", error: { message: "storage is away" } },
    ]);
    const audit = dataOf(await relay.call("GET", "/v1/admin/audit", { operator: ["Admin"] }));
    expect(audit[0]).toMatchObject({
      action: "message.poisoned",
      target: { type: "queue", id: "publishing" },
      actor: { kind: "system" },
    });
    await sweep(3);
    expect(visible(text)).toHaveLength(1);
  });

  test("a message that the host moved aside is logged and removed within a day", async () => {
    for (const { queue } of workers)
      for (let index = 0; index < 3; index += 1)
        relay.queues.poison(queue, index === 0 ? "no base64" : JSON.stringify({ queue, index }));
    const before = relay.logLines.length;
    for (let day = 0; day < 2; day += 1) {
      relay.advance(24 * 60 * 60_000);
      await relay.runTimer("clear-poison-queues");
    }
    expect(
      poisonLines(before)
        .map(({ queue, hint }) => `${queue} ${hint}`)
        .toSorted(),
    ).toEqual(
      workers
        .flatMap(({ queue }) => [
          `${queue} no base64`,
          ...[1, 2].map((index) => `${queue} ${JSON.stringify({ queue, index })}`),
        ])
        .toSorted(),
    );
  });
});
