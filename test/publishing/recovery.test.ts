import { describe, expect, test } from "vitest";
import { workers } from "../../src/functions/workers.ts";
import { CRASHES_MAX } from "../../src/shared/publishing/leg.ts";
import { publishLegs } from "../../src/shared/publishing/publish/publish-leg.ts";
import { PublishHint } from "../../src/shared/publishing/post-queue.ts";
import type { Services } from "../../src/shared/compose.ts";
import { dataOf } from "../setup/factories.ts";
import {
  aPublisher,
  readBalance,
  readPost,
  settlePost,
  submitPost,
  unique,
  type Publisher,
} from "../setup/publisher.ts";
import type { Relay } from "../setup/relay.ts";
import { useSandboxedRelay } from "../setup/sandboxed-relay.ts";
import { enqueueDuePosts, findForgottenWork, sweepStalledLegs } from "../setup/walks.ts";

const MINUTE = 60_000;
let relay: Relay;

const { visible } = useSandboxedRelay((started) => {
  relay = started.relay;
});

/** A minute of the sweeper, over and over. */
async function sweep(minutes: number): Promise<void> {
  for (let minute = 0; minute < minutes; minute += 1) {
    relay.advance(MINUTE);
    await sweepStalledLegs(relay.services);
    await relay.drain();
  }
}

/** The store with some of its methods replaced; `Reflect` because its own fields are out of reach. */
function replaced<T extends object>(store: T, methods: object): T {
  return new Proxy(store, {
    get(target, name) {
      if (name in methods) return Reflect.get(methods, name) as unknown;
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === "function" ? (value.bind(target) as unknown) : value;
    },
  });
}

/** Lets `between` happen after the platform was marked and before its transaction. */
async function submitWith(publisher: Publisher, body: object, between: () => Promise<void>) {
  const { wallets } = relay.services;
  const commit = wallets.commit.bind(wallets);
  // The method of this one object, put back below.
  wallets.commit = async (platformId, operation) => {
    await between();
    return commit(platformId, operation);
  };
  relay.queues.onSend = () => "lose";
  try {
    return await submitPost(relay, publisher, body);
  } finally {
    wallets.commit = commit;
    relay.queues.onSend = () => "keep";
  }
}

describe("a process that stands still between its mark and its work", () => {
  const standStill = async () => {
    for (let minute = 0; minute < 6; minute += 1) {
      relay.advance(MINUTE);
      await sweepStalledLegs(relay.services);
    }
  };

  test("leaves work that the sweeper finds, however long it stood and although its hint is lost", async () => {
    const publisher = await aPublisher(relay);
    const text = unique("Stood still");
    const body = { text, platforms: ["bluesky"] };
    const answer = await submitWith(publisher, body, standStill);
    expect(answer.status).toBe(202);
    await sweep(4);
    expect(visible(text)).toHaveLength(1);
  });

  test("and dies right after it leaves work that the search through all platforms finds", async () => {
    const publisher = await aPublisher(relay);
    const text = unique("Stood still and died");
    const body = { text, platforms: ["bluesky"] };
    const { openWork } = relay.services;
    const mark = openWork.mark.bind(openWork);
    const standAndDie = async () => {
      await standStill();
      // What it would have done after its transaction is never done.
      openWork.mark = () => Promise.resolve();
    };
    try {
      await submitWith(publisher, body, standAndDie);
    } finally {
      openWork.mark = mark;
    }
    await sweep(4);
    expect(visible(text)).toHaveLength(0);
    await findForgottenWork(relay.services);
    await sweep(2);
    expect(visible(text)).toHaveLength(1);
  });

  test("so that its post was due before it was stored fires it all the same", async () => {
    const publisher = await aPublisher(relay);
    const text = unique("Late and due");
    const scheduleAt = new Date(relay.clock.now().getTime() + 20_000).toISOString();
    const { due } = relay.services;
    const add = due.add.bind(due);
    due.add = async (row, now) => {
      for (let minute = 0; minute < 6; minute += 1) {
        relay.advance(MINUTE);
        await enqueueDuePosts(relay.services);
      }
      return add(row, now);
    };
    relay.queues.onSend = () => "lose";
    try {
      await submitPost(relay, publisher, { text, platforms: ["bluesky"], scheduleAt });
    } finally {
      due.add = add;
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
  test("marks nobody without open work, and can be repeated", async () => {
    const { platform } = (await aPublisher(relay)).application;
    const marked: string[] = [];
    const openWork = replaced(relay.services.openWork, {
      mark: (platformId: string) => Promise.resolve(marked.push(platformId)),
    });
    await findForgottenWork({ ...relay.services, openWork });
    await findForgottenWork({ ...relay.services, openWork });
    expect(marked).not.toContain(platform.id);
  });
});

describe("a leg that kills its workers", () => {
  /** One worker after the other takes the leg and dies over it, until no other may. */
  async function wearOut(publisher: Publisher, postId: string, services: Services) {
    const hint = PublishHint().parse({ v: 1, ...publisher.owner, postId, networks: ["bluesky"] });
    let deaths = 0;
    for (let life = 0; life < CRASHES_MAX + 3; life += 1) {
      try {
        await publishLegs(services, hint);
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
    const post = dataOf(await submitPost(relay, publisher, { text, platforms: ["bluesky"] }));
    relay.queues.onSend = () => "keep";
    return { text, post };
  }

  test("before anything is sent ends as an error of ours, unpaid, and can be retried", async () => {
    const publisher = await aPublisher(relay);
    const { post } = await submitted(publisher);
    const networkAccounts = replaced(relay.services.networkAccounts, {
      claimText: () => Promise.reject(new Error("out of memory")),
    });
    const before = relay.logLines.length;
    const deaths = await wearOut(publisher, post.id, { ...relay.services, networkAccounts });
    expect(deaths).toBe(CRASHES_MAX);
    expect(await readPost(relay, publisher, post.id)).toMatchObject({
      status: "failed",
      legs: [{ error: { code: "internal_error" }, retryAvailable: true, tokensCharged: 0 }],
    });
    expect(await readBalance(relay, publisher)).toMatchObject({ tokenReserved: 0 });
    const lines = relay.logLines.slice(before).filter((line) => line.includes("leg_given_up"));
    expect(lines).toHaveLength(1);
    const { key, headers } = publisher;
    dataOf(await relay.call("POST", `/v1/posts/${post.id}/retry`, { key, headers }));
    expect(await settlePost(relay, publisher, post.id)).toMatchObject({ status: "succeeded" });
  });

  test("after it may have been sent ends as of unknown outcome, unpaid", async () => {
    const publisher = await aPublisher(relay);
    const { text, post } = await submitted(publisher);
    const outbound = replaced(relay.services.outbound, {
      request: () => Promise.reject(new Error("out of memory")),
    });
    const deaths = await wearOut(publisher, post.id, { ...relay.services, outbound });
    expect(deaths).toBe(CRASHES_MAX);
    expect(await readPost(relay, publisher, post.id)).toMatchObject({
      status: "failed",
      legs: [{ error: { code: "outcome_unknown" }, retryAvailable: true, tokensCharged: 0 }],
    });
    expect(await readBalance(relay, publisher)).toMatchObject({ tokenReserved: 0 });
    const { key, headers } = publisher;
    dataOf(await relay.call("POST", `/v1/posts/${post.id}/retry`, { key, headers }));
    expect(await settlePost(relay, publisher, post.id)).toMatchObject({ status: "succeeded" });
    expect(visible(text)).toHaveLength(1);
  });
});

describe("a message that no worker could do", () => {
  const poisoned = workers.filter(({ queue }) => queue.endsWith("-poison"));

  test("is kept and counted, told to operators and to alerts, and its work is done by the sweeper", async () => {
    const publisher = await aPublisher(relay);
    const text = unique("Poisoned");
    const sent: object[] = [];
    relay.queues.onSend = (message) => {
      sent.push(message);
      return "lose";
    };
    await submitPost(relay, publisher, { text, platforms: ["bluesky"] });
    relay.queues.onSend = () => "keep";
    const poison = poisoned.find(({ queue }) => queue === "publish-legs-poison");
    const before = relay.logLines.length;
    await poison?.handle(relay.services, sent[0]);
    await poison?.handle(relay.services, sent[0]);
    const lines = relay.logLines.slice(before).map((line) => JSON.parse(line));
    const told = lines.filter(({ event }) => event === "poison_message");
    expect(told).toMatchObject([
      { level: "error", queue: "publish-legs", count: 1 },
      { level: "error", queue: "publish-legs", count: 2 },
    ]);
    const audit = dataOf(await relay.call("GET", "/v1/admin/audit", { operator: ["Admin"] }));
    expect(audit[0]).toMatchObject({
      action: "message.poisoned",
      target: { type: "queue", id: "publish-legs" },
      actor: { kind: "system" },
    });
    await sweep(3);
    expect(visible(text)).toHaveLength(1);
  });

  test.each([
    ["no JSON", "\u0000 nonsense"],
    ["nothing", null],
    ["of any size", "x".repeat(60_000)],
    ["nested", { a: { b: [1] } }],
  ])("never fails its handler: %s", async (_, message) => {
    expect(poisoned).toHaveLength(4);
    for (const { handle } of poisoned) await handle(relay.services, message);
  });

  test("is told of although storage is away", async () => {
    const housekeeping = replaced(relay.services.housekeeping, {
      recordPoison: () => Promise.reject(new Error("storage is away")),
    });
    const before = relay.logLines.length;
    for (const { handle } of poisoned) await handle({ ...relay.services, housekeeping }, {});
    const lines = relay.logLines.slice(before).filter((line) => line.includes('"poison_message"'));
    expect(lines).toHaveLength(4);
  });
});
