import { availableParallelism, loadavg } from "node:os";
import { setTimeout as delay } from "node:timers/promises";
import { visibleKey } from "./instant-network.ts";
import { offer } from "./load.ts";
import { goalText, tableText } from "./report.ts";
import { ratio, saveResults } from "./results.ts";
import { BENCH_NETWORKS, type Tenant } from "./relay.ts";
import { runBench } from "./run.ts";
import { startWholeRelay, type WholeRelay } from "./whole-relay.ts";

/** A steady load, and how long it lasts; another number of seconds as the only argument. */
const POSTS_PER_SECOND = 8;
const LOADED_SECONDS = Number(process.argv[2] ?? 240);
const TENANTS = 20;
const REST_MS = 60_000;
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

/** Posts of two legs at a steady rate. What is in use after a collection tells what the product holds. */
async function steadyLoad(): Promise<readonly (readonly string[])[]> {
  const relay = await startWholeRelay();
  try {
    const tenants = await relay.openTenants(TENANTS);
    const [host] = relay.hosts;
    if (host === undefined) throw new Error("no process has started");
    const row = async (name: string, how: "as it is" | "collect" = "as it is") => {
      const { heapUsed, heapTotal, external } = await host.figures(how);
      return [name, ...[await host.residentBytes(), heapTotal, heapUsed, external].map(megabytes)];
    };
    const rows = [["8 posts a second, 2 legs each", "MB resident", "heap", "in use", "external"]];
    rows.push(await row("before"), await row("before, collected", "collect"));
    await offer({
      calls: POSTS_PER_SECOND * LOADED_SECONDS,
      perSecond: POSTS_PER_SECOND,
      call: (index) =>
        relay.post(tenants[index % TENANTS] as Tenant, { platforms: BENCH_NETWORKS }),
    });
    rows.push(await row(`after ${LOADED_SECONDS} s`));
    await delay(REST_MS);
    rows.push(await row("after a minute of rest"), await row("the same, collected", "collect"));
    await delay(SETTLE_MS);
    rows.push(await row("five seconds later"));
    return rows;
  } finally {
    await relay.stop();
  }
}

async function main(): Promise<void> {
  console.log(tableText(await steadyLoad()));
  console.log(`\n${tableText(await oneVideo())}`);
  console.log(`${availableParallelism()} cores, load ${loadavg()[0]?.toFixed(1)}`);
}

runBench(main);
