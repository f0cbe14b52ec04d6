import { describe, expect, test } from "vitest";
import { parseConfig } from "../../src/shared/config/config.ts";
import { hintsOf } from "../../src/shared/host/worker.ts";
import { newId } from "../../src/shared/runtime/ids.ts";
import { startPost } from "../../src/shared/publishing/schedule/start-post.ts";
import { postWake } from "../../src/shared/publishing/post.ts";
import type { StartHint } from "../../src/shared/publishing/post-queue.ts";
import { buildServices, type Services } from "../../src/shared/compose.ts";
import { aPublisher, unique } from "../setup/publisher.ts";
import { startRelay } from "../setup/relay.ts";
import { useSandboxedRelay } from "../setup/sandboxed-relay.ts";
import { connectionOf, revokeConnection } from "../setup/stored.ts";
import { enqueueDuePosts } from "../setup/walks.ts";

const MINUTE = 60_000;
const POSTS = 2_500;

const { relay, visible } = useSandboxedRelay();

const ahead = (ms: number) => new Date(relay.clock.now().getTime() + ms).toISOString();

describe("2,500 posts of one minute", () => {
  test(
    "2,500 posts of one minute are all hinted in one run of the timer, once each, and none again while they are on time",
    { timeout: 120_000 },
    async () => {
      // Of its own: rows that nothing stands behind would be hinted in the other tests too.
      const own = await startRelay();
      const { wakes } = own.services.webhooks;
      const now = own.clock.now();
      const dueAt = new Date(now.getTime() + 70_000).toISOString();
      const platforms = Array.from({ length: 50 }, () => newId("platform", now));
      for (let start = 0; start < POSTS; start += 50)
        await Promise.all(
          platforms.map((platformId) => {
            const ref = {
              platformId,
              profileId: newId("profile", now),
              postId: newId("post", now),
            };
            return wakes.add(postWake(ref, dueAt), now);
          }),
        );
      const hinted = new Map<string, number>();
      own.queues.onSend = (message) => {
        for (const hint of hintsOf(message)) {
          const { postId } = hint as { postId: string };
          hinted.set(postId, (hinted.get(postId) ?? 0) + 1);
        }
        return "lose";
      };
      const startedAt = performance.now();
      await enqueueDuePosts(own.services);
      const tookMs = performance.now() - startedAt;
      process.stdout.write(`timer: ${hinted.size} hints in ${Math.round(tookMs)} ms\n`);
      expect(tookMs).toBeLessThan(45_000);
      expect(hinted.size).toBe(POSTS);
      own.advance(MINUTE);
      await enqueueDuePosts(own.services);
      expect([...new Set(hinted.values())]).toEqual([1]);
      // Every one of them was lost: later all come again.
      own.advance(5 * MINUTE);
      await enqueueDuePosts(own.services);
      own.queues.onSend = () => "keep";
      expect([...new Set(hinted.values())]).toEqual([2]);
      await own.stop();
    },
  );
});

describe("instances whose clocks differ by a minute", () => {
  /** Another instance of the deployment, whose clock is wrong by so much. */
  function instance(skewMs: number): Services {
    return buildServices(parseConfig(relay.settings), {
      clock: { now: () => new Date(relay.clock.now().getTime() + skewMs) },
      log: relay.services.log,
      tables: relay.tables,
      queue: (name) => relay.queues.open(name),
      outbound: relay.services.connections.outbound,
    });
  }

  test.each([
    ["the timer's is ahead", 30_000, -30_000],
    ["the worker's is ahead", -30_000, 30_000],
  ])("fire a post once, and within their difference: %s", async (_, timerSkew, workerSkew) => {
    const [timer, worker] = [instance(timerSkew), instance(workerSkew)];
    const publisher = await aPublisher(relay, ["bluesky"]);
    const text = unique("Skewed");
    const scheduleAt = ahead(5 * MINUTE);
    const body = { text, platforms: ["bluesky"], scheduleAt };
    const { id } = await publisher.accept(body);
    const dueAt = Date.parse(scheduleAt);
    const waiting: { readonly hint: StartHint; readonly at: number }[] = [];
    for (const services of [timer, worker]) {
      const { publishQueue } = services.publishing.stores;
      const send = publishQueue.hint.bind(publishQueue);
      publishQueue.hint = (fields, seconds) => {
        if (fields.kind !== "start") return send(fields, seconds);
        const at = relay.clock.now().getTime() + Math.max(0, Math.ceil(seconds ?? 0)) * 1000;
        waiting.push({ hint: fields, at });
        return Promise.resolve();
      };
    }
    for (let second = 0; second < 8 * 60; second += 5) {
      relay.advance(5_000);
      const now = relay.clock.now().getTime();
      if (second % 60 === 0) await enqueueDuePosts(timer);
      const seen = waiting.filter(({ at }) => at <= now);
      waiting.splice(0, waiting.length, ...waiting.filter(({ at }) => at > now));
      for (const { hint } of seen) await startPost(worker.publishing, hint);
    }
    const post = await publisher.settle(id);
    expect(post.status).toBe("succeeded");
    expect(visible(text)).toHaveLength(1);
    // By the clock of the one that fired it, never before its time.
    const firedAt = Date.parse(post.startedAt);
    expect(firedAt).toBeGreaterThanOrEqual(dueAt);
    expect(firedAt - workerSkew - dueAt).toBeLessThan(45_000);
  });
});

describe("a post that fires", () => {
  test("a scheduled post starts to the second, whenever the timer ran before", async () => {
    const publisher = await aPublisher(relay, ["bluesky"]);
    const scheduleAt = ahead(7 * MINUTE + 23_000);
    const body = { text: unique("To the second"), platforms: ["bluesky"], scheduleAt };
    const { id } = await publisher.accept(body);
    const dueAt = Date.parse(scheduleAt);
    while (relay.clock.now().getTime() < dueAt - 61_000) {
      await enqueueDuePosts(relay.services);
      await relay.drain();
      relay.advance(MINUTE);
    }
    await enqueueDuePosts(relay.services);
    while (relay.clock.now().getTime() < dueAt - 1_500) {
      await relay.drain();
      relay.advance(500);
    }
    expect((await publisher.read(id)).status).toBe("scheduled");
    relay.advance(2_500);
    const post = await publisher.settle(id);
    expect(Date.parse(post.startedAt) - dueAt).toBeLessThan(3_000);
    expect(Date.parse(post.startedAt)).toBeGreaterThanOrEqual(dueAt);
  });

  test("a scheduled post is checked when it starts: for a removed account, and for a text published meanwhile", async () => {
    const publisher = await aPublisher(relay, ["bluesky", "mastodon"]);
    const text = unique("Judged again");
    const scheduleAt = ahead(10 * MINUTE);
    const body = { text, platforms: ["bluesky", "mastodon"], scheduleAt };
    const { id } = await publisher.accept(body);
    const twin = await publisher.accept({ text, platforms: ["bluesky"] });
    await publisher.settle(twin.id);
    const { services } = relay;
    const mastodon = await connectionOf(services, publisher.owner, "mastodon");
    await revokeConnection(services, mastodon);
    relay.advance(10 * MINUTE);
    await enqueueDuePosts(relay.services);
    const post = await publisher.settle(id);
    expect(post).toMatchObject({ status: "failed", tokens: { charged: 0, reserved: 0 } });
    const codes = post.legs.map((leg: { error: { code: string } }) => leg.error.code);
    expect(codes.toSorted()).toEqual(["connection_missing", "duplicate_content"]);
    expect(visible(text)).toHaveLength(1);
  });
});
