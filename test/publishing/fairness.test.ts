import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startSandbox, type Sandbox } from "../../dev/networks/server.ts";
import { newId } from "../../src/shared/ids.ts";
import { enqueueDue } from "../../src/shared/due/enqueue-due.ts";
import { publishLegs } from "../../src/shared/posts/publish-legs.ts";
import { PublishHint } from "../../src/shared/posts/publish-queue.ts";
import { repairStalledLegs } from "../../src/shared/posts/repair-stalled-legs.ts";
import type { Turn } from "../../src/shared/posts/turn-store.ts";
import { dataOf } from "../setup/factories.ts";
import {
  aPublisher,
  readPost,
  settlePost,
  submitPost,
  unique,
  type Publisher,
} from "../setup/publisher.ts";
import { startRelay, type Relay } from "../setup/relay.ts";
import { sandboxSettings } from "../setup/sandbox-accounts.ts";

let sandbox: Sandbox;
let relay: Relay;

beforeAll(async () => {
  sandbox = await startSandbox();
  relay = await startRelay({ memoryQueues: true, settings: sandboxSettings(sandbox, sandbox.url) });
});
afterAll(async () => {
  await relay.stop();
  await sandbox.stop();
});

const visible = (text: string) => sandbox.posts().filter((post) => post.text.includes(text));

describe("a platform that asks for much at once", () => {
  test(
    "keeps another's post waiting for no more than its first few legs",
    { timeout: 60_000 },
    async () => {
      const busy = await aPublisher(relay, ["bluesky"]);
      const quiet = await aPublisher(relay, ["bluesky"]);
      const { platformId } = busy.owner;
      const credit = { operator: ["Admin"], body: { platformId, tokens: 10_000 } };
      dataOf(await relay.call("POST", "/v1/billing/admin/credit", credit));
      const word = unique("Busy");
      const began = relay.clock.now().getTime();
      const many = 150;
      for (let index = 0; index < many; index += 10)
        await Promise.all(
          Array.from({ length: 10 }, (_, n) =>
            submitPost(relay, busy, { text: `${word} no. ${index + n}`, platforms: ["bluesky"] }),
          ),
        );
      const text = unique("Quiet");
      let [ahead, passedMs] = [Infinity, Infinity];
      const { outbound } = relay.services;
      const request = outbound.request.bind(outbound);
      outbound.request = (asked) => {
        if (typeof asked.body === "string" && asked.body.includes(text)) {
          ahead = visible(word).length;
          passedMs = relay.clock.now().getTime() - began;
        }
        return request(asked);
      };
      const { id } = dataOf(await submitPost(relay, quiet, { text, platforms: ["bluesky"] }));
      await relay.drain();
      outbound.request = request;
      const post = await readPost(relay, quiet, id);
      const lateMs = Date.parse(post.legs[0].publishedAt) - Date.parse(post.createdAt);
      process.stdout.write(
        `fairness: of ${many} legs that were asked for before it, ${ahead} went out before the quiet platform's, ${lateMs} ms after it was asked for\n`,
      );
      // Fifty at once, and ten for every second since.
      expect(ahead).toBeLessThanOrEqual(51 + passedMs / 100);
      expect(ahead).toBeLessThan(many);
      expect(lateMs).toBeLessThan(10_000);
      // The sweeper does not bring the others forward, and in the end all are out, at the platform's pace.
      const soFar = visible(word).length;
      relay.queues.onSend = () => {
        throw new Error("nothing is stalled");
      };
      await repairStalledLegs(relay.services);
      relay.queues.onSend = () => "keep";
      expect(visible(word)).toHaveLength(soFar);
      const from = relay.clock.now().getTime();
      while (visible(word).length < many) {
        relay.advance(1_000);
        await relay.drain();
        expect(relay.clock.now().getTime() - from).toBeLessThan(60_000);
      }
    },
  );

  test("has its posts of one minute fired at a rate, and another's to the second", async () => {
    const { due } = relay.services;
    const now = relay.clock.now();
    const dueAt = new Date(now.getTime() + 30_000).toISOString();
    const dueOf = (platformId: string) => ({
      place: { platformId, profileId: newId("profile", now), postId: newId("post", now) },
      dueAt,
    });
    const [busy, quiet] = [newId("platform", now), newId("platform", now)];
    const rows = [...Array.from({ length: 300 }, () => dueOf(busy)), dueOf(quiet)];
    await Promise.all(rows.map((row) => due.add(row, now)));
    const delays = new Map<string, number[]>();
    await enqueueDue(relay.services, {
      store: due,
      hint: ({ place }, seconds) => {
        delays.set(place.platformId, [...(delays.get(place.platformId) ?? []), seconds]);
        return Promise.resolve();
      },
    });
    const ofBusy = (delays.get(busy) ?? []).toSorted((left, right) => left - right);
    expect(ofBusy).toHaveLength(300);
    const exact = delays.get(quiet)?.[0] ?? 0;
    expect(exact).toBeGreaterThan(29);
    expect(exact).toBeLessThanOrEqual(30);
    expect(ofBusy.filter((seconds) => seconds <= exact)).toHaveLength(50);
    expect((ofBusy.at(-1) ?? 0) - exact).toBeCloseTo(5, 1);
    await Promise.all(rows.map((row) => due.remove(row)));
  });
});

describe("an account", () => {
  const account = (id: string) => ({ network: "bluesky", accountId: unique(id) }) as const;
  const claim = (seconds = 120) => {
    const now = relay.clock.now();
    return { now, until: new Date(now.getTime() + seconds * 1000).toISOString() };
  };
  const isTurn = (answer: object): answer is Turn => "etag" in answer;

  test("has one leg in hand; the others are told when to come, one after the other", async () => {
    const { turns } = relay.services;
    const own = account("one at a time");
    const first = await turns.take(own, "first", claim());
    if (!isTurn(first)) throw new Error("a free account was taken");
    const waits: number[] = [];
    for (const leg of ["second", "third", "fourth"]) {
      const answer = await turns.take(own, leg, claim());
      if (isTurn(answer)) throw new Error("two legs at once");
      waits.push(answer.waitMs);
    }
    expect(waits).toEqual(waits.toSorted((left, right) => left - right));
    expect(new Set(waits).size).toBe(3);
    await turns.release(first, relay.clock.now());
    const second = await turns.take(own, "second", claim());
    expect(isTurn(second)).toBe(true);
  });

  test("that nobody waits for leaves nothing behind", async () => {
    const { turns } = relay.services;
    const own = account("idle");
    for (const leg of ["first", "second"]) {
      const turn = await turns.take(own, leg, claim());
      if (!isTurn(turn)) throw new Error("a free account was taken");
      await turns.release(turn, relay.clock.now());
    }
  });

  test("is free again when its worker died, for that leg at once and for others after its lease", async () => {
    const { turns } = relay.services;
    const own = account("dead");
    await turns.take(own, "dead", claim());
    expect(isTurn(await turns.take(own, "dead", claim()))).toBe(true);
    expect(isTurn(await turns.take(own, "other", claim()))).toBe(false);
    relay.advance(121_000);
    expect(isTurn(await turns.take(own, "other", claim()))).toBe(true);
  });

  test("of many at once is given to exactly one", async () => {
    const { turns } = relay.services;
    const own = account("race");
    const legs = Array.from({ length: 12 }, (_, index) => `leg ${index}`);
    const answers = await Promise.all(legs.map((leg) => turns.take(own, leg, claim())));
    expect(answers.filter(isTurn)).toHaveLength(1);
  });

  async function submitted(publisher: Publisher, text: string): Promise<string> {
    const answer = await submitPost(relay, publisher, { text, platforms: ["bluesky"] });
    return dataOf(answer).id as string;
  }

  test("gets the posts of several one after the other, and each counts its attempt once", async () => {
    const publisher = await aPublisher(relay, ["bluesky"]);
    relay.queues.onSend = () => "lose";
    const texts = Array.from({ length: 4 }, () => unique("Side by side"));
    const posts: string[] = [];
    for (const text of texts) posts.push(await submitted(publisher, text));
    relay.queues.onSend = () => "keep";
    const { outbound } = relay.services;
    const request = outbound.request.bind(outbound);
    let [inHand, most] = [0, 0];
    outbound.request = async (asked) => {
      inHand += 1;
      most = Math.max(most, inHand);
      try {
        return await request(asked);
      } finally {
        inHand -= 1;
      }
    };
    const hints = posts.map((postId) =>
      PublishHint.parse({ v: 1, ...publisher.owner, postId, networks: ["bluesky"] }),
    );
    await Promise.all(hints.map((hint) => publishLegs(relay.services, hint)));
    for (const postId of posts) await settlePost(relay, publisher, postId);
    outbound.request = request;
    expect(most).toBe(1);
    for (const [index, postId] of posts.entries()) {
      expect(visible(texts[index] ?? "")).toHaveLength(1);
      expect(await readPost(relay, publisher, postId)).toMatchObject({
        status: "succeeded",
        legs: [{ attempts: 1 }],
      });
    }
  });
});
