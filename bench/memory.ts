import { availableParallelism, loadavg } from "node:os";
import { setTimeout as delay } from "node:timers/promises";
import { visibleKey } from "./instant-network.ts";
import { offer } from "./load.ts";
import { PublishingInRegion } from "./publishing-in-region.ts";
import { goalText, tableText } from "./report.ts";
import { ratio, saveResults } from "./results.ts";
import { runBench } from "./run.ts";
import { startWholeRelay, type WholeRelay } from "./whole-relay.ts";

/** How many are accepted and published; another number as the only argument. */
const POSTS = Number(process.argv[2] ?? 10_000);
const WARM_UP_POSTS = Math.ceil(POSTS / 10);
const TENANTS = 40;
const POSTS_PER_SECOND = 60;
const TRIM_POSTS = 500;
const HOST_POSTS = 300;
const VIDEO_BYTES = 300_000_000;
const VIDEO_MS_MAX = 240_000;
const SETTLE_MS = 5_000;
const SAMPLE_MS = 250;
const GOAL_AFTER_POSTS_MB = 280;
/** What an operator may set where memory is short. */
const SMALL_YOUNG_GENERATION = "--max-semi-space-size=4";

const megabytes = (bytes: number) => (bytes / 1_000_000).toFixed(0);

/** Waits for something and notes the most memory that was taken meanwhile. */
async function peakUntil(relay: WholeRelay, isDone: () => boolean): Promise<number> {
  const deadline = performance.now() + VIDEO_MS_MAX;
  let peak = 0;
  while (!isDone()) {
    if (performance.now() > deadline) throw new Error("a post was not published in time");
    peak = Math.max(peak, await relay.residentBytes());
    await delay(SAMPLE_MS);
  }
  return peak;
}

async function publish(publishing: PublishingInRegion, posts: number): Promise<void> {
  for (let done = 0; done < posts; done += TRIM_POSTS) {
    const calls = Math.min(TRIM_POSTS, posts - done);
    await offer({ calls, perSecond: POSTS_PER_SECOND, call: () => publishing.post() });
    await publishing.untilTold();
    publishing.trim(0);
  }
}

/** In a region, where nothing but this process is in the way; what posts leave in storage is taken out of it. */
async function manyPosts(): Promise<readonly (readonly string[])[]> {
  const publishing = await PublishingInRegion.start(TENANTS);
  try {
    const sample = () => ({ resident: process.memoryUsage.rss(), heap: publishing.heapBytes() });
    const atStart = sample();
    await publish(publishing, WARM_UP_POSTS);
    const warm = sample();
    await publish(publishing, POSTS - WARM_UP_POSTS);
    const end = sample();
    const row = (name: string, { resident, heap }: typeof end) => [
      name,
      megabytes(resident),
      megabytes(heap),
      (heap / warm.heap).toFixed(2),
    ];
    await saveResults("memoryOfPosts", {
      posts: POSTS,
      heapOfWarm: ratio(end.heap / warm.heap),
      residentOfWarm: ratio(end.resident / warm.resident),
    });
    return [
      ["in a region", "MB resident", "MB in use", "of 1 in 10"],
      row("after the start", atStart),
      row(`after ${WARM_UP_POSTS} posts`, warm),
      row(`after ${POSTS} posts`, end),
    ];
  } finally {
    await publishing.stop();
  }
}

/** Publishes posts one after the other. Returns the memory before and after, and their tenant. */
async function publishPosts(relay: WholeRelay) {
  await delay(SETTLE_MS);
  const atStart = await relay.residentBytes();
  const [tenant] = await relay.openTenants(1);
  if (tenant === undefined) throw new Error("there is no tenant to post for");
  for (let index = 0; index < HOST_POSTS; index += 1) await relay.post(tenant);
  await peakUntil(relay, () => relay.network.visible.size >= HOST_POSTS);
  await delay(SETTLE_MS);
  return { tenant, atStart, afterPosts: await relay.residentBytes() };
}

async function withSmallYoungGeneration(): Promise<number> {
  const relay = await startWholeRelay(SMALL_YOUNG_GENERATION);
  try {
    return (await publishPosts(relay)).afterPosts;
  } finally {
    await relay.stop();
  }
}

/** The built product in a process of its own. */
async function oneVideo(): Promise<readonly (readonly string[])[]> {
  const small = await withSmallYoungGeneration();
  const relay = await startWholeRelay();
  try {
    const { tenant, atStart, afterPosts } = await publishPosts(relay);
    const { visible } = relay.network;
    const goal = `at most ${GOAL_AFTER_POSTS_MB} MB after ${HOST_POSTS} posts`;
    const isMet = Number(megabytes(afterPosts)) <= GOAL_AFTER_POSTS_MB;
    console.log(goalText({ text: goal, measured: `${megabytes(afterPosts)} MB`, isMet }));
    const mediaUrls = [relay.network.videoUrl(VIDEO_BYTES)];
    const text = await relay.post(tenant, { mediaUrls });
    const peak = await peakUntil(relay, () => visible.has(visibleKey("mastodon", text)));
    if (relay.network.uploadedBytes() < VIDEO_BYTES)
      throw new Error(`only ${relay.network.uploadedBytes()} bytes of the video arrived`);
    const growth = Math.max(0, peak - afterPosts);
    await saveResults("memory", {
      afterPostsOfStart: ratio(afterPosts / atStart),
      videoGrowthOfItsSize: ratio(growth / VIDEO_BYTES),
    });
    const row = (name: string, bytes: number) => [
      name,
      megabytes(bytes),
      (bytes / atStart).toFixed(2),
    ];
    return [
      ["the host's process", "MB resident", "of the start"],
      row("after the start", atStart),
      row(`after ${HOST_POSTS} posts`, afterPosts),
      row(`the same with NODE_OPTIONS=${SMALL_YOUNG_GENERATION}`, small),
      row(`at most while ${megabytes(VIDEO_BYTES)} MB of video were moved`, peak),
      [
        "the video added",
        megabytes(growth),
        `${((growth / VIDEO_BYTES) * 100).toFixed(0)} % of it`,
      ],
    ];
  } finally {
    await relay.stop();
  }
}

async function main(): Promise<void> {
  console.log(tableText(await oneVideo()));
  console.log(`\n${tableText(await manyPosts())}`);
  console.log(`${availableParallelism()} cores, load ${loadavg()[0]?.toFixed(1)}`);
}

runBench(main);
