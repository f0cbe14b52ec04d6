import { setTimeout as delay } from "node:timers/promises";
import { startInstantNetwork, visibleKey, type InstantNetwork } from "./instant-network.ts";
import { median, offer, percentileOf } from "./load.ts";
import { startRelayInRegion, STORAGE_MS, type RelayInRegion } from "./region.ts";
import { acceptAsk, BENCH_NETWORKS, succeed, type Tenant } from "./relay.ts";
import { tableText } from "./report.ts";
import { ratio, saveResults } from "./results.ts";
import { openLinked } from "./whole-relay.ts";

const TENANTS = 50;
const IDLE_POSTS = 40;
const IDLE_PAUSE_MS = 150;
const POSTS_PER_SECOND = 50;
const LOADED_SECONDS = 20;
const BURST_POSTS = 300;
const SLOW_NETWORK_MS = 400;
const SLOW_POSTS = 10;
const DEADLINE_MS = 60_000;
const POLL_MS = 2;
/** post.processing, leg.succeeded, post.succeeded. */
const EVENTS_OF_POST = 3;

interface Accepted {
  readonly text: string;
  readonly acceptedAt: number;
}

/** Waits for what must come true. @throws Error when it does not within a minute */
async function until(isTrue: () => boolean, what: string): Promise<void> {
  const deadline = performance.now() + DEADLINE_MS;
  while (!isTrue()) {
    if (performance.now() > deadline) throw new Error(`${what} did not happen`);
    await delay(POLL_MS);
  }
}

class Region {
  readonly #relay: RelayInRegion;
  readonly #network: InstantNetwork;
  readonly #tenants: readonly Tenant[];
  #index = 0;

  constructor(relay: RelayInRegion, network: InstantNetwork, tenants: readonly Tenant[]) {
    this.#relay = relay;
    this.#network = network;
    this.#tenants = tenants;
  }

  async post(platforms: readonly string[] = ["mastodon"]): Promise<Accepted> {
    const tenant = this.#tenants[this.#index % this.#tenants.length];
    if (tenant === undefined) throw new Error("there is no tenant to post for");
    this.#index += 1;
    const ask = acceptAsk(tenant, { platforms });
    const { text } = await succeed<{ text: string }>(this.#relay.services, ask);
    return { text, acceptedAt: performance.now() };
  }

  visibleAt(text: string, network = "mastodon"): number | undefined {
    return this.#network.visible.get(visibleKey(network, text));
  }

  async latencies(posts: readonly Accepted[]): Promise<number[]> {
    await until(() => posts.every(({ text }) => this.visibleAt(text) !== undefined), "publishing");
    return posts.map(({ text, acceptedAt }) =>
      Math.max(0, (this.visibleAt(text) ?? 0) - acceptedAt),
    );
  }

  async idle(): Promise<number[]> {
    const posts: Accepted[] = [];
    while (posts.length < IDLE_POSTS) {
      posts.push(await this.post());
      await delay(IDLE_PAUSE_MS + Math.random() * IDLE_PAUSE_MS);
    }
    return this.latencies(posts);
  }

  async loaded(): Promise<number[]> {
    const posts = await offer({
      calls: POSTS_PER_SECOND * LOADED_SECONDS,
      perSecond: POSTS_PER_SECOND,
      call: () => this.post(),
    });
    return this.latencies(posts);
  }

  /** As many as there are at once, until the last webhook has come. */
  async burst() {
    const { deliveries } = this.#network;
    const before = { deliveries: deliveries.length, requests: this.#relay.requests() };
    const from = performance.now();
    const posts = await Promise.all(Array.from({ length: BURST_POSTS }, () => this.post()));
    await this.latencies(posts);
    const publishedMs = performance.now() - from;
    const expected = before.deliveries + BURST_POSTS * EVENTS_OF_POST;
    await until(() => deliveries.length >= expected, "delivering");
    const toldMs = performance.now() - from;
    return {
      published: (BURST_POSTS / publishedMs) * 1000,
      delivered: ((expected - before.deliveries) / toldMs) * 1000,
      requestsPerPost: (this.#relay.requests() - before.requests) / BURST_POSTS,
    };
  }

  /** How far apart the legs of a post reach networks that take their time to answer. */
  async legsApart(): Promise<number> {
    this.#network.answerAfterMs = SLOW_NETWORK_MS;
    const apart: number[] = [];
    while (apart.length < SLOW_POSTS) {
      const { text } = await this.post(BENCH_NETWORKS);
      const times = () => BENCH_NETWORKS.map((network) => this.visibleAt(text, network));
      await until(() => times().every((time) => time !== undefined), "publishing of all legs");
      const [first = 0, second = 0] = times();
      apart.push(Math.abs(first - second));
    }
    this.#network.answerAfterMs = 0;
    return median(apart);
  }
}

/** What the product itself takes and bears, on storage that answers as fast as in a region, without an emulator beside it. */
export async function publishInRegion(): Promise<void> {
  const network = await startInstantNetwork();
  const relay = startRelayInRegion(network.settings);
  try {
    const tenants = await openLinked(relay.services, network, TENANTS);
    const region = new Region(relay, network, tenants);
    await Promise.all(Array.from({ length: TENANTS }, () => region.post()));
    await delay(1_000);
    const idle = await region.idle();
    const cpuBefore = process.cpuUsage();
    const from = performance.now();
    const loaded = await region.loaded();
    const { user, system } = process.cpuUsage(cpuBefore);
    const cores = (user + system) / 1000 / (performance.now() - from);
    const burst = await region.burst();
    const apart = await region.legsApart();
    const row = (name: string, latencies: readonly number[]) => [
      name,
      String(latencies.length),
      median(latencies).toFixed(0),
      percentileOf(latencies, 0.99).toFixed(0),
    ];
    console.log(
      `\nstorage of this process that answers after ${STORAGE_MS} ms\n${tableText([
        ["", "posts", "visible p50 ms", "visible p99 ms"],
        row("idle, one at a time", idle),
        row(`${POSTS_PER_SECOND} posts a second`, loaded),
      ])}`,
    );
    console.log(
      `\n${POSTS_PER_SECOND} posts a second took ${cores.toFixed(2)} of a core; ${BURST_POSTS} at once: ` +
        `published ${burst.published.toFixed(0)}/s, events fanned out and delivered ${burst.delivered.toFixed(0)}/s, ` +
        `${burst.requestsPerPost.toFixed(1)} requests to storage for each`,
    );
    console.log(
      `two legs of a post, networks that answer after ${SLOW_NETWORK_MS} ms: ${apart.toFixed(0)} ms apart`,
    );
    await saveResults("publishInRegion", {
      loadedOfIdle: ratio(median(loaded) / median(idle)),
      tailOfMedianLoaded: ratio(percentileOf(loaded, 0.99) / median(loaded)),
      legsApartOfNetwork: ratio(apart / SLOW_NETWORK_MS),
      requestsPerPost: ratio(burst.requestsPerPost),
    });
  } finally {
    relay.stop();
    await network.stop();
  }
}
