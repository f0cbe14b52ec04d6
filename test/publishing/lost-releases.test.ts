import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { startSandbox, type Sandbox } from "../../dev/networks/server.ts";
import type { FatedCall } from "../model/machine.ts";
import type { TableFault } from "../model/storage-model.ts";
import { dataOf } from "../setup/factories.ts";
import { casesOf } from "../setup/long-check.ts";
import { aPublisher, readPost, submitPost, unique, type Publisher } from "../setup/publisher.ts";
import { startRelay, type Relay } from "../setup/relay.ts";
import { sandboxSettings } from "../setup/sandbox-accounts.ts";
import { enqueueDueDeliveries, enqueueDuePosts, sweepStalledLegs } from "../setup/walks.ts";

// A lease that can't be given back is given back again, in real time: the tests wait for that, and let no time pass on
// the relay's clock meanwhile, so that no lease ends by itself.
const SECOND = 1_000;
let sandbox: Sandbox;
let relay: Relay;
let fault: (call: FatedCall) => TableFault = () => "pass";

beforeAll(async () => {
  sandbox = await startSandbox();
});
// Each has storage of its own: all publish to one account.
beforeEach(async () => {
  fault = () => "pass";
  const settings = sandboxSettings(sandbox, sandbox.url);
  relay = await startRelay({ settings, tableFault: (call) => fault(call) });
});
afterEach(() => relay.stop());
afterAll(() => sandbox.stop());

const visible = (text: string) => sandbox.posts().filter((post) => post.text.includes(text));

async function accepted(publisher: Publisher, text: string): Promise<string> {
  return dataOf(await submitPost(relay, publisher, { text, platforms: ["bluesky"] })).id;
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

describe("an account whose lease could not be given back", () => {
  test("is free for the next post as soon as storage answers", async () => {
    const publisher = await aPublisher(relay, ["bluesky"]);
    const [first, second] = [unique("First"), unique("Second")];
    // From the call that publishes on, the account's rows can't be written.
    fault = ({ table, method }) =>
      table === "accounts" && method === "POST" && visible(first).length > 0
        ? "lose_request"
        : "pass";
    await accepted(publisher, first).then(work);
    fault = () => "pass";
    await accepted(publisher, second).then(work);
    await vi.waitFor(
      async () => {
        await work();
        expect(visible(second)).toHaveLength(1);
      },
      { timeout: 10 * SECOND, interval: 100 },
    );
  });

  test("is free when it was unknown whether it was taken", async () => {
    const publisher = await aPublisher(relay, ["bluesky"]);
    const [first, second] = [unique("Taken"), unique("Next")];
    await accepted(publisher, unique("Before")).then(work);
    let calls = 0;
    fault = ({ table, rowKeys }) => {
      if (table !== "accounts" || (calls === 0 && !rowKeys.includes("B"))) return "pass";
      calls += 1;
      return calls === 1 ? "lose_answer" : "lose_request";
    };
    await accepted(publisher, first).then(work);
    expect(calls).toBeGreaterThan(0);
    fault = () => "pass";
    await accepted(publisher, second).then(work);
    await vi.waitFor(
      async () => {
        await work();
        expect(visible(second)).toHaveLength(1);
      },
      { timeout: 10 * SECOND, interval: 100 },
    );
    relay.advance(60 * SECOND);
    await tick();
    expect(visible(first)).toHaveLength(1);
  });
});

/** Writes of a wallet are tried for eight seconds, so what comes after the call is left to the long check. */
const MOMENTS = casesOf([
  ["before the call", () => true],
  ["after the call", (text: string) => visible(text).length > 0],
] as const);

describe("an outage of storage of 40 seconds while a leg is published", () => {
  test.each(MOMENTS)("delays nothing beyond the next minute: %s", async (_when, hasBegun) => {
    const publisher = await aPublisher(relay, ["bluesky"]);
    const [busy, later] = [unique("Busy"), unique("Later")];
    const postId = await accepted(publisher, busy);
    let isClaimed = false;
    fault = ({ table }) => {
      // What a worker that has claimed a leg reads next.
      if (table === "connections") isClaimed = true;
      return isClaimed && hasBegun(busy) ? "lose_request" : "pass";
    };
    await work();
    expect(isClaimed).toBe(true);
    relay.advance(40 * SECOND);
    fault = () => "pass";
    await accepted(publisher, later).then(work);
    await vi.waitFor(
      async () => {
        await work();
        expect(visible(later)).toHaveLength(1);
        const [leg] = (await readPost(relay, publisher, postId)).legs;
        expect(leg.nextAttemptAt).not.toBeNull();
      },
      { timeout: 20 * SECOND, interval: 100 },
    );
    relay.advance(60 * SECOND);
    await tick();
    expect(visible(busy)).toHaveLength(1);
  });
});
