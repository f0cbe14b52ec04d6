import { expect } from "vitest";
import { startSandbox } from "../../sandbox/server.ts";
import { aPublisher, unique, type Publisher } from "../setup/publisher.ts";
import { startRelay, type Relay } from "../setup/relay.ts";
import { sandboxSettings } from "../setup/sandbox-accounts.ts";
import { enqueueDuePosts } from "../setup/walks.ts";

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const POSTS_EACH = 50;
/** The platforms' pace, and a millisecond of the test's clock for every look at it. */
const FIRED_WITHIN_MS = 2 * MINUTE;
interface Stored {
  readonly publisher: Publisher;
  readonly id: string;
}

/** The platforms' posts, all for the same second. */
async function schedule(
  relay: Relay,
  {
    platforms,
    mark,
    scheduleAt,
  }: { readonly platforms: number; readonly mark: string; readonly scheduleAt: string },
): Promise<Stored[]> {
  const stored: Stored[] = [];
  for (let platform = 0; platform < platforms; platform += 1) {
    const publisher = await aPublisher(relay, ["bluesky"]);
    for (let nth = 0; nth < POSTS_EACH; nth += 1) {
      const body = { text: `${mark} ${platform}.${nth}.`, platforms: ["bluesky"], scheduleAt };
      stored.push({ publisher, id: (await publisher.accept(body)).id });
    }
  }
  return stored;
}

/** Fires the posts of so many platforms that are all due in one second, and expects each to be visible once. */
export async function startOneMinute(platforms: number): Promise<void> {
  const posts = platforms * POSTS_EACH;
  const sandbox = await startSandbox();
  const relay = await startRelay({ settings: sandboxSettings(sandbox, sandbox.url) });
  try {
    const scheduleAt = new Date(relay.clock.now().getTime() + 60 * MINUTE).toISOString();
    const dueAt = Date.parse(scheduleAt);
    const mark = unique("Of one minute");
    const stored = await schedule(relay, { platforms, mark, scheduleAt });
    const visible = () => sandbox.posts().filter(({ text }) => text.includes(mark));
    relay.advance(dueAt - relay.clock.now().getTime() - MINUTE);
    await enqueueDuePosts(relay.services);
    await relay.drain();
    expect(visible()).toEqual([]);
    for (let minute = 0; minute < 10 && visible().length < posts; minute += 1) {
      await enqueueDuePosts(relay.services);
      for (let second = 0; second < 60; second += 5) {
        await relay.drain();
        relay.advance(5 * SECOND);
      }
    }
    expect(visible()).toHaveLength(posts);
    expect(new Set(visible().map(({ text }) => text)).size).toBe(posts);
    const lateMs: number[] = [];
    for (const { publisher, id } of stored) {
      const post = await publisher.read(id);
      expect(post.status).toBe("succeeded");
      lateMs.push(Date.parse(post.startedAt) - dueAt);
    }
    process.stdout.write(`fired ${Math.min(...lateMs)} to ${Math.max(...lateMs)} ms late\n`);
    expect(Math.min(...lateMs)).toBeGreaterThanOrEqual(0);
    expect(Math.max(...lateMs)).toBeLessThan(FIRED_WITHIN_MS);
  } finally {
    await relay.stop();
    await sandbox.stop();
  }
}
