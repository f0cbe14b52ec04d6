import { availableParallelism, loadavg } from "node:os";
import { setTimeout as delay } from "node:timers/promises";
import { offer } from "./load.ts";
import { tableText } from "./report.ts";
import { ratio, saveResults } from "./results.ts";
import { runBench } from "./run.ts";
import { keepTrimmed } from "./trim.ts";
import { visibleKey } from "./instant-network.ts";
import { startWholeRelay, type WholeRelay } from "./whole-relay.ts";

/** How many are accepted and published; another number as the only argument. */
const POSTS = Number(process.argv[2] ?? 10_000);
const TENANTS = 40;
/** What two cores bear with the emulators beside the product: more would only wait. */
const POSTS_PER_SECOND = 12;
const VIDEO_BYTES = 300_000_000;
const VIDEO_MS_MAX = 240_000;
const SETTLE_MS = 5_000;
const SAMPLE_MS = 250;
const DRAIN_MS_MAX = 900_000;

const megabytes = (bytes: number) => (bytes / 1_000_000).toFixed(0);

/** Waits for something and notes the most memory that was taken meanwhile. */
async function peakUntil(
  relay: WholeRelay,
  what: string,
  { isDone, limitMs }: { readonly isDone: () => boolean; readonly limitMs: number },
): Promise<number> {
  const deadline = performance.now() + limitMs;
  let peak = 0;
  while (!isDone()) {
    if (performance.now() > deadline) throw new Error(`waited in vain for ${what}`);
    peak = Math.max(peak, await relay.residentBytes());
    await delay(SAMPLE_MS);
  }
  return peak;
}

async function main(): Promise<void> {
  const relay = await startWholeRelay();
  try {
    await delay(SETTLE_MS);
    const atStart = await relay.residentBytes();
    console.log(`after the start: ${megabytes(atStart)} MB`);

    const tenants = await relay.openTenants(TENANTS);
    const { visible } = relay.network;
    const trimming = keepTrimmed(relay);
    await offer({
      calls: POSTS,
      perSecond: POSTS_PER_SECOND,
      async call(index) {
        const tenant = tenants[index % TENANTS];
        if (tenant === undefined) throw new Error("there is no tenant to post for");
        await relay.post(tenant);
      },
    });
    await peakUntil(relay, "the posts to be published", {
      isDone: () => visible.size >= POSTS,
      limitMs: DRAIN_MS_MAX,
    });
    await trimming.stop();
    await delay(SETTLE_MS);
    const afterPosts = await relay.residentBytes();
    console.log(`after ${POSTS} posts, published: ${megabytes(afterPosts)} MB`);

    const [tenant] = tenants;
    if (tenant === undefined) throw new Error("there is no tenant to post for");
    const mediaUrls = [relay.network.videoUrl(VIDEO_BYTES)];
    const text = await relay.post(tenant, { mediaUrls });
    const peak = await peakUntil(relay, "the video to be published", {
      isDone: () => visible.has(visibleKey("mastodon", text)),
      limitMs: VIDEO_MS_MAX,
    });
    if (relay.network.uploadedBytes() < VIDEO_BYTES)
      throw new Error(`only ${relay.network.uploadedBytes()} bytes of the video arrived`);
    console.log(
      `\n${tableText([
        ["resident memory of the host's process", "MB", "of the start"],
        ["after the start", megabytes(atStart), "1.00"],
        [`after ${POSTS} posts`, megabytes(afterPosts), (afterPosts / atStart).toFixed(2)],
        [
          `at most while ${megabytes(VIDEO_BYTES)} MB of video were moved`,
          megabytes(peak),
          (peak / atStart).toFixed(2),
        ],
      ])}`,
    );
    const growth = Math.max(0, peak - afterPosts);
    console.log(
      `\nthe video added ${megabytes(growth)} MB at most, ${((growth / VIDEO_BYTES) * 100).toFixed(0)} % of its size`,
    );
    console.log(`${availableParallelism()} cores, load ${loadavg()[0]?.toFixed(1)}`);
    await saveResults("memory", {
      posts: POSTS,
      afterPostsOfStart: ratio(afterPosts / atStart),
      videoGrowthOfItsSize: ratio(growth / VIDEO_BYTES),
    });
  } finally {
    await relay.stop();
  }
}

runBench(main);
