import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { startSandbox, type Sandbox } from "../../dev/networks/server.ts";
import { dataOf } from "../setup/factories.ts";
import { aPublisher, submitPost, unique, uniqueKey, type Publisher } from "../setup/publisher.ts";
import { startFaultProxy, type FaultProxy } from "../setup/fault-proxy.ts";
import type { TableFault } from "../model/storage-model.ts";
import { startRelay, type Answer, type Relay } from "../setup/relay.ts";
import { casesOf } from "../setup/long-check.ts";
import { sandboxSettings } from "../setup/sandbox-accounts.ts";
import { sweepStalledLegs } from "../setup/walks.ts";

/** Everything that a process says to the world goes through these; `choose` is the fate of the next call. */
let choose: (call: {
  readonly to: "tables" | "networks";
  readonly method: string;
  readonly path: string;
}) => TableFault = () => "pass";
let sandbox: Sandbox;
let networks: FaultProxy;
/** A process without faults; the ones under test are others of the same deployment. */
let calm: Relay;
let publisher: Publisher;

beforeAll(async () => {
  sandbox = await startSandbox();
  networks = await startFaultProxy(sandbox.port, (call) => choose({ ...call, to: "networks" }));
  calm = await startRelay({ settings: sandboxSettings(sandbox, sandbox.url) });
  publisher = await aPublisher(calm);
});
afterEach(() => {
  choose = () => "pass";
  calm.queues.onSend = () => "keep";
});
afterAll(async () => {
  await calm.stop();
  await Promise.all([networks.stop(), sandbox.stop()]);
});

/** A new process of the deployment, with nothing in its memory. */
async function aProcess(): Promise<Relay> {
  return startRelay({
    sameDeploymentAs: calm,
    settings: sandboxSettings(sandbox, `http://127.0.0.1:${networks.port}`),
    tableFault: ({ method, table }) => choose({ to: "tables", method, path: table }),
  });
}

interface Submitted {
  readonly text: string;
  readonly idempotencyKey: string;
}

function submit(to: Relay, { text, idempotencyKey }: Submitted): Promise<Answer> {
  return submitPost(to, publisher, { text, platforms: ["bluesky", "mastodon"] }, idempotencyKey);
}

/** As the host: an error of a worker leaves the message to the sweeper. */
async function work(on: Relay): Promise<void> {
  try {
    await on.drain();
  } catch {
    // The process is dead or storage is away: the rows stay as they are.
  }
}

/** Sweeps and works until nothing is open any more. */
async function recover(): Promise<void> {
  for (let round = 0; round < 60; round += 1) {
    await sweepStalledLegs(calm.services);
    await calm.drain();
    const { works: open } = await calm.services.posts.listOpenWork(publisher.owner.platformId);
    if (open.length === 0) return;
    calm.advance(61_000);
  }
  throw new Error("work was left open");
}

async function postsWith(text: string) {
  const { key, headers } = publisher;
  const posts = dataOf(await calm.call("GET", "/v1/posts?limit=100", { key, headers }));
  return posts.filter((post: { text: string }) => post.text === text);
}

async function expectWholeLedger(): Promise<void> {
  const platformId = publisher.owner.platformId;
  const wallet = await calm.services.wallets.read(platformId);
  let after: string | undefined;
  let [balance, reserved, expected] = [0, 0, wallet.sequence];
  do {
    const page = await calm.services.wallets.listEntries(platformId, {}, { after, limit: 500 });
    for (const entry of page.items) {
      expect(entry.sequence).toBe(expected);
      expected -= 1;
      if (["credit", "debit", "settle"].includes(entry.type)) balance += entry.tokens;
      if (["reserve", "settle", "release"].includes(entry.type)) reserved += entry.tokens;
    }
    after = page.next;
  } while (after !== undefined);
  expect(expected).toBe(0);
  expect({ balance, reserved }).toEqual({ balance: wallet.balance, reserved: wallet.reserved });
}

/** One post, one visible publish per leg, and a wallet that adds up with nothing promised any more. */
async function expectExactlyOnce(submitted: Submitted, balanceBefore: number): Promise<void> {
  const posts = await postsWith(submitted.text);
  expect(posts).toHaveLength(1);
  const [post] = posts;
  const visible = sandbox.posts().filter(({ text }) => text.includes(submitted.text));
  expect(visible.map(({ network }) => network).sort()).toEqual(["bluesky", "mastodon"]);
  expect(visible.map(({ edits }) => edits)).toEqual([0, 0]);
  expect(post.legs.map((leg: { status: string }) => leg.status)).toEqual([
    "succeeded",
    "succeeded",
  ]);
  expect(post).toMatchObject({ status: "succeeded", tokens: { reserved: 0, charged: 20 } });
  const wallet = await calm.services.wallets.read(publisher.owner.platformId);
  expect(wallet).toMatchObject({ balance: balanceBefore - 20, reserved: 0 });
}

async function balanceNow(): Promise<number> {
  return (await calm.services.wallets.read(publisher.owner.platformId)).balance;
}

const aPost = (word: string): Submitted => ({
  text: unique(word),
  idempotencyKey: uniqueKey(),
});

/** How many calls one post takes from its acceptance to its end, on a process that starts with nothing in memory. */
async function countCalls(): Promise<number> {
  let calls = 0;
  choose = () => {
    calls += 1;
    return "pass";
  };
  const process = await aProcess();
  await submit(process, aPost("Counted"));
  await process.drain();
  await process.stop();
  const counted = calls;
  await recover();
  return counted;
}

describe("a process that is killed", () => {
  test.each(casesOf(["lose_answer", "lose_request"] as const))(
    "at any of its calls (%s) leaves one post, one publish per leg and a whole ledger",
    { timeout: 120_000 },
    async (last) => {
      const calls = await countCalls();
      expect(calls).toBeGreaterThan(20);
      for (let fatal = 1; fatal <= calls; fatal += 1) {
        const submitted = aPost("Killed");
        const before = await balanceNow();
        let call = 0;
        choose = () => {
          call += 1;
          if (call < fatal) return "pass";
          return call === fatal ? last : "lose_request";
        };
        const victim = await aProcess();
        // After its last call a dead process neither sends hints nor reads them.
        victim.queues.onSend = () => (call >= fatal ? "lose" : "keep");
        await submit(victim, submitted);
        if (call < fatal) await work(victim);
        await victim.stop();
        choose = () => "pass";
        const repeated = await submit(calm, submitted);
        expect([fatal, repeated.status]).toEqual([fatal, 202]);
        await recover();
        await expectExactlyOnce(submitted, before);
      }
      await expectWholeLedger();
    },
  );
});

describe("storage that answers wrongly", () => {
  const faults: readonly TableFault[] = [
    "late",
    "lose_answer",
    "lose_request",
    "false_412",
    "unavailable",
  ];

  test.each(casesOf(faults, 2))(
    "%s at any call to the tables ends in one post, one publish per leg and a whole ledger",
    { timeout: 120_000 },
    async (fault) => {
      const calls = await countCalls();
      for (let faulty = 1; faulty <= calls; faulty += 1) {
        const submitted = aPost(fault);
        const before = await balanceNow();
        let call = 0;
        choose = ({ to, method }) => {
          call += 1;
          const isFaulty = to === "tables" && call === faulty;
          // Only a write can lose a race.
          return isFaulty && !(fault === "false_412" && method === "GET") ? fault : "pass";
        };
        const process = await aProcess();
        const first = await submit(process, submitted);
        // What may have been applied is never refused for good: the caller may repeat it.
        expect([202, 503]).toContain(first.status);
        await work(process);
        // A write that is late lands before the repeat, or at some time after it.
        if (faulty % 2 === 0) await calm.storage?.land();
        const second = await submit(process, submitted);
        expect([faulty, second.status]).toEqual([faulty, 202]);
        await work(process);
        await process.stop();
        choose = () => "pass";
        await calm.storage?.land();
        await recover();
        await expectExactlyOnce(submitted, before);
      }
      await expectWholeLedger();
    },
  );
});

describe("hints", () => {
  test.each(["lose", "double"] as const)("that the queue would %s change nothing", async (fate) => {
    const submitted = aPost(`Hints ${fate}`);
    const before = await balanceNow();
    calm.queues.onSend = () => fate;
    await submit(calm, submitted);
    await calm.drain();
    calm.queues.onSend = () => "keep";
    calm.advance(61_000);
    await recover();
    await expectExactlyOnce(submitted, before);
  });
});

describe("a worker that stalls", () => {
  test("longer than its lease does not publish a second time", async () => {
    const submitted = aPost("Stalled");
    const before = await balanceNow();
    const slow = await aProcess();
    let stalled = false;
    choose = ({ to, path }) => {
      const isVisible = to === "networks" && /putRecord|api\/v1\/statuses$/.test(path);
      if (isVisible && !stalled) {
        stalled = true;
        calm.advance(600_000);
      }
      return "pass";
    };
    await submit(slow, submitted);
    await work(slow);
    await slow.stop();
    choose = () => "pass";
    await recover();
    await expectExactlyOnce(submitted, before);
  });
});
