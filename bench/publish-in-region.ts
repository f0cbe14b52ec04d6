import { setTimeout as delay } from "node:timers/promises";
import { median, offer, percentileOf } from "./load.ts";
import {
  EVENTS_OF_POST,
  PublishingInRegion,
  until,
  type AcceptedPost,
} from "./publishing-in-region.ts";
import { STORAGE_MS } from "./region.ts";
import { BENCH_NETWORKS } from "./relay.ts";
import { tableText } from "./report.ts";
import { ratio, saveResults } from "./results.ts";

const TENANTS = 50;
const IDLE_POSTS = 40;
const IDLE_PAUSE_MS = 150;
const POSTS_PER_SECOND = 50;
const LOADED_SECONDS = 20;
const BURST_POSTS = 300;
const SLOW_NETWORK_MS = 400;
const SLOW_POSTS = 10;

async function idle(publishing: PublishingInRegion): Promise<number[]> {
  const posts: AcceptedPost[] = [];
  while (posts.length < IDLE_POSTS) {
    posts.push(await publishing.post());
    await delay(IDLE_PAUSE_MS + Math.random() * IDLE_PAUSE_MS);
  }
  return publishing.latencies(posts);
}

async function loaded(publishing: PublishingInRegion): Promise<number[]> {
  const posts = await offer({
    calls: POSTS_PER_SECOND * LOADED_SECONDS,
    perSecond: POSTS_PER_SECOND,
    call: () => publishing.post(),
  });
  return publishing.latencies(posts);
}

/** As many as there are at once, until the last webhook has come. */
async function burst(publishing: PublishingInRegion) {
  await publishing.untilTold();
  const requestsBefore = publishing.requests();
  const from = performance.now();
  const posts = await Promise.all(Array.from({ length: BURST_POSTS }, () => publishing.post()));
  await publishing.latencies(posts);
  const publishedMs = performance.now() - from;
  await publishing.untilTold();
  const toldMs = performance.now() - from;
  return {
    published: (BURST_POSTS / publishedMs) * 1000,
    delivered: ((BURST_POSTS * EVENTS_OF_POST) / toldMs) * 1000,
    requestsPerPost: (publishing.requests() - requestsBefore) / BURST_POSTS,
  };
}

/** How far apart the legs of a post reach networks that take their time to answer. */
async function legsApart(publishing: PublishingInRegion): Promise<number> {
  publishing.network.answerAfterMs = SLOW_NETWORK_MS;
  const apart: number[] = [];
  while (apart.length < SLOW_POSTS) {
    const { text } = await publishing.post(BENCH_NETWORKS);
    const times = () => BENCH_NETWORKS.map((network) => publishing.visibleAt(text, network));
    await until(() => times().every((time) => time !== undefined), "publishing of all legs");
    const [first = 0, second = 0] = times();
    apart.push(Math.abs(first - second));
  }
  return median(apart);
}

/** What the product itself takes and bears, on storage that answers as fast as in a region, without an emulator beside it. */
export async function publishInRegion(): Promise<void> {
  const publishing = await PublishingInRegion.start(TENANTS);
  try {
    await Promise.all(Array.from({ length: TENANTS }, () => publishing.post()));
    await publishing.untilTold();
    const alone = await idle(publishing);
    const cpuBefore = process.cpuUsage();
    const from = performance.now();
    const together = await loaded(publishing);
    const { user, system } = process.cpuUsage(cpuBefore);
    const cores = (user + system) / 1000 / (performance.now() - from);
    const { published, delivered, requestsPerPost } = await burst(publishing);
    const apart = await legsApart(publishing);
    const row = (name: string, latencies: readonly number[]) => [
      name,
      String(latencies.length),
      median(latencies).toFixed(0),
      percentileOf(latencies, 0.99).toFixed(0),
    ];
    console.log(
      `\nstorage of this process that answers after ${STORAGE_MS} ms\n${tableText([
        ["", "posts", "visible p50 ms", "visible p99 ms"],
        row("idle, one at a time", alone),
        row(`${POSTS_PER_SECOND} posts a second`, together),
      ])}`,
    );
    console.log(
      `\n${POSTS_PER_SECOND} posts a second took ${cores.toFixed(2)} of a core; ${BURST_POSTS} at once: ` +
        `published ${published.toFixed(0)}/s, events fanned out and delivered ${delivered.toFixed(0)}/s, ` +
        `${requestsPerPost.toFixed(1)} requests to storage for each`,
    );
    console.log(
      `two legs of a post, networks that answer after ${SLOW_NETWORK_MS} ms: ${apart.toFixed(0)} ms apart`,
    );
    await saveResults("publishInRegion", {
      loadedOfIdle: ratio(median(together) / median(alone)),
      tailOfMedianLoaded: ratio(percentileOf(together, 0.99) / median(together)),
      legsApartOfNetwork: ratio(apart / SLOW_NETWORK_MS),
      requestsPerPost: ratio(requestsPerPost),
    });
  } finally {
    await publishing.stop();
  }
}
