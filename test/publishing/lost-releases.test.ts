import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { startSandbox } from "../../sandbox/server.ts";
import type { FatedCall } from "../model/machine.ts";
import type { TableFault } from "../model/storage-model.ts";
import { PATIENCE_MS } from "../setup/bounds.ts";
import { casesOf } from "../setup/long-check.ts";
import { aPublisher, unique, type Publisher } from "../setup/publisher.ts";
import { startRelay, type Relay } from "../setup/relay.ts";
import { sandboxSettings } from "../setup/sandbox-accounts.ts";
import { enqueueDueDeliveries, enqueueDuePosts, sweepStalledLegs } from "../setup/walks.ts";
import { forFile } from "../setup/for-file.ts";

// A lease that can't be given back is given back again, in real time: the tests wait for that, and let no time pass on
// the relay's clock meanwhile, so that no lease ends by itself.
const SECOND = 1_000;
let relay: Relay;
let fault: (call: FatedCall) => TableFault = () => "pass";

const sandbox = forFile(() => startSandbox());
// Each has storage of its own: all publish to one account.
beforeEach(async () => {
  fault = () => "pass";
  const settings = sandboxSettings(sandbox, sandbox.url);
  relay = await startRelay({ settings, tableFault: (call) => fault(call) });
});
afterEach(() => relay.stop());

const visible = (text: string) => sandbox.posts().filter((post) => post.text.includes(text));

async function accepted(publisher: Publisher, text: string): Promise<string> {
  return (await publisher.accept({ text, platforms: ["bluesky"] })).id;
}

/** Workers take what is due. A worker's error is what its queue sees, and its message is gone. */
async function work(): Promise<void> {
  for (let failed = true; failed;)
    failed = await relay.drain().then(
      () => false,
      () => true,
    );
}

/** What comes by a schedule, and the work that it finds. */
async function tick(): Promise<void> {
  await enqueueDuePosts(relay.services);
  await enqueueDueDeliveries(relay.services);
  await sweepStalledLegs(relay.services);
  await work();
}

/** Publishes what waits until the text is visible. */
async function appears(text: string): Promise<void> {
  const publishes = async () => {
    await work();
    expect(visible(text)).toHaveLength(1);
  };
  await vi.waitFor(publishes, { timeout: PATIENCE_MS, interval: 100 });
}

/** Publishes a post while the fault lasts; `recover` ends it and publishes another post on the same account. */
async function publishUnder(present: typeof fault, texts: readonly [string, string]) {
  const publisher = await aPublisher(relay, ["bluesky"]);
  const postId = await accepted(publisher, texts[0]);
  fault = present;
  await work();
  return {
    publisher,
    postId,
    recover: async (): Promise<void> => {
      fault = () => "pass";
      await accepted(publisher, texts[1]);
      await appears(texts[1]);
    },
  };
}

describe("an account whose lease could not be given back", () => {
  test("an account whose lease could not be given back is free as soon as storage answers", async () => {
    const [first, second] = [unique("First"), unique("Second")];
    // From the call that publishes on, the account's rows can't be written.
    const { recover } = await publishUnder(
      ({ table, method }) =>
        table === "accounts" && method === "POST" && visible(first).length > 0
          ? "lose_request"
          : "pass",
      [first, second],
    );
    await recover();
  });

  test("an account is free after a claim with an unknown outcome", async () => {
    const [first, second] = [unique("Taken"), unique("Next")];
    // Each test's account has been used before, so that its rows exist.
    await publishUnder(() => "pass", [unique("Before"), second]);
    let calls = 0;
    const { recover } = await publishUnder(
      ({ table, rowKeys }) => {
        if (table !== "accounts" || (calls === 0 && !rowKeys.includes("B"))) return "pass";
        calls += 1;
        return calls === 1 ? "lose_answer" : "lose_request";
      },
      [first, second],
    );
    expect(calls).toBeGreaterThan(0);
    await recover();
    relay.advance(60 * SECOND);
    await tick();
    expect(visible(first)).toHaveLength(1);
  });
});

/** Returns whether a call claims a leg: no other writes its row alone before there was an answer. */
const isClaim = ({ table, rowKeys }: FatedCall) =>
  table === "core" && rowKeys.length === 1 && /^P\|.*\|bluesky$/.test(rowKeys[0] ?? "");

/** Writes of a wallet are tried for eight seconds, so what comes after the call is left to the long check. */
const MOMENTS = casesOf([
  ["before the call", () => true],
  ["after the call", (text: string) => visible(text).length > 0],
] as const);

describe("an outage of storage while a leg is published", () => {
  test.each(MOMENTS)(
    "an outage of storage of 40 seconds delays no leg beyond the next minute: %s",
    async (_when, hasBegun) => {
      const [busy, later] = [unique("Busy"), unique("Later")];
      let isClaimed = false;
      const { publisher, postId, recover } = await publishUnder(
        (call) => {
          const isLost = isClaimed && hasBegun(busy);
          isClaimed ||= isClaim(call);
          return isLost ? "lose_request" : "pass";
        },
        [busy, later],
      );
      expect(isClaimed).toBe(true);
      relay.advance(40 * SECOND);
      await recover();
      await vi.waitFor(
        async () => {
          const [leg] = (await publisher.read(postId)).legs;
          expect(leg.nextAttemptAt).not.toBeNull();
        },
        { timeout: PATIENCE_MS, interval: 100 },
      );
      relay.advance(60 * SECOND);
      await tick();
      expect(visible(busy)).toHaveLength(1);
    },
  );

  test("an endless outage of storage causes few attempts, and the next sweep that finds the leg ends it", async () => {
    const [waiting, later] = [unique("Waiting"), unique("Afterwards")];
    let tries = 0;
    let isClaimed = false;
    const { recover } = await publishUnder(
      (call) => {
        // What a worker reads next that has claimed a leg is its account.
        const isRead = isClaimed && call.table === "core" && call.method === "GET";
        if (call.method === "POST") isClaimed = isClaim(call);
        if (!isRead) return "pass";
        tries += 1;
        return "lose_request";
      },
      [waiting, later],
    );
    const triesOfOne = tries;
    for (let seconds = 10; seconds <= 8 * 60; seconds += 10) {
      relay.advance(10 * SECOND);
      await (seconds % 60 === 0 ? tick() : work());
    }
    // At first, after 10 seconds, and then by sweeps, which wait twice as long each time.
    expect(tries / triesOfOne).toBeLessThanOrEqual(6);
    await recover();
    relay.advance(15 * 60 * SECOND);
    await tick();
    expect(visible(waiting)).toHaveLength(1);
  });
});
