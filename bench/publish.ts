import { availableParallelism, loadavg } from "node:os";
import { setTimeout as delay } from "node:timers/promises";
import { measure, median, offer, percentileOf } from "./load.ts";
import { goalText, tableText } from "./report.ts";
import { ratio, saveResults } from "./results.ts";
import { runBench } from "./run.ts";
import type { Tenant } from "./relay.ts";
import { visibleKey } from "./instant-network.ts";
import { startWholeRelay, type WholeRelay } from "./whole-relay.ts";

const TENANTS = 20;
const WARM_UP_POSTS = 40;
const IDLE_POSTS = 40;
const IDLE_PAUSE_MS = 400;
/** What two cores bear with the emulators on them; another rate as the only argument. */
const POSTS_PER_SECOND = Number(process.argv[2] ?? 10);
const LOADED_SECONDS = 15;
const VISIBLE_MS_MAX = 120_000;
const POLL_MS = 5;
/** post.processing, leg.succeeded, post.succeeded: what one published leg tells its endpoint, at least. */
const EVENTS_OF_POST_MIN = 2;
const GOAL_IDLE_P50_MS = 100;

interface Sent {
  readonly text: string;
  readonly sentAt: number;
  readonly answeredAt: number;
}

class Publishing {
  readonly #relay: WholeRelay;
  readonly #tenants: readonly Tenant[];

  constructor(relay: WholeRelay, tenants: readonly Tenant[]) {
    this.#relay = relay;
    this.#tenants = tenants;
  }

  async post(index: number): Promise<Sent> {
    const tenant = this.#tenants[index % this.#tenants.length];
    if (tenant === undefined) throw new Error("there is no tenant to post for");
    const sentAt = performance.now();
    const text = await this.#relay.post(tenant);
    return { text, sentAt, answeredAt: performance.now() };
  }

  async untilVisible(sent: readonly Sent[]): Promise<void> {
    const { visible } = this.#relay.network;
    const deadline = performance.now() + VISIBLE_MS_MAX;
    while (!sent.every(({ text }) => visible.has(visibleKey("mastodon", text)))) {
      if (performance.now() > deadline) throw new Error("posts did not become visible");
      await delay(POLL_MS);
    }
  }

  /** From the answer to the moment at which a reader could see the post; it may come before the answer. */
  latencies(sent: readonly Sent[]): number[] {
    const { visible } = this.#relay.network;
    return sent.map(({ text, answeredAt }) =>
      Math.max(0, (visible.get(visibleKey("mastodon", text)) ?? 0) - answeredAt),
    );
  }

  async idle(): Promise<Sent[]> {
    const sent: Sent[] = [];
    for (let index = 0; index < IDLE_POSTS; index += 1) {
      sent.push(await this.post(index));
      await this.untilVisible(sent);
      await delay(IDLE_PAUSE_MS + Math.random() * IDLE_PAUSE_MS);
    }
    return sent;
  }

  loaded(): Promise<Sent[]> {
    return offer({
      calls: POSTS_PER_SECOND * LOADED_SECONDS,
      perSecond: POSTS_PER_SECOND,
      call: (index) => this.post(index),
    });
  }
}

/** Waits until nothing was delivered for a while. */
async function untilQuiet({ network }: WholeRelay): Promise<void> {
  const QUIET_MS = 3_000;
  const deadline = performance.now() + VISIBLE_MS_MAX;
  while (performance.now() < deadline) {
    if (performance.now() - (network.deliveries.at(-1) ?? 0) > QUIET_MS) return;
    await delay(POLL_MS * 20);
  }
  throw new Error("webhooks do not end");
}

/** How many a second arrived, in the busiest whole second. */
function peakPerSecond(times: readonly number[]): number {
  const seconds = new Map<number, number>();
  for (const time of times) {
    const second = Math.floor(time / 1000);
    seconds.set(second, (seconds.get(second) ?? 0) + 1);
  }
  return Math.max(0, ...seconds.values());
}

async function main(): Promise<void> {
  const relay = await startWholeRelay();
  try {
    const publishing = new Publishing(relay, await relay.openTenants(TENANTS));
    const warm: Sent[] = [];
    await measure({
      calls: WARM_UP_POSTS,
      concurrency: 4,
      call: async (index) => void warm.push(await publishing.post(index)),
    });
    await publishing.untilVisible(warm);
    await untilQuiet(relay);

    const idle = await publishing.idle();
    console.log(`idle: p50 ${median(publishing.latencies(idle)).toFixed(0)} ms`);
    await untilQuiet(relay);
    const deliveredBefore = relay.network.deliveries.length;
    const loadedFrom = performance.now();
    const loaded = await publishing.loaded();
    const offeredMs = performance.now() - loadedFrom;
    await publishing.untilVisible(loaded);
    const publishedMs = performance.now() - loadedFrom;
    await untilQuiet(relay);
    const delivered = relay.network.deliveries.slice(deliveredBefore);
    if (delivered.length < loaded.length * EVENTS_OF_POST_MIN)
      throw new Error(`only ${delivered.length} webhooks came for ${loaded.length} posts`);

    const spanMs = (delivered.at(-1) ?? 0) - (delivered[0] ?? 0);
    const row = (name: string, sent: readonly Sent[]) => {
      const latencies = publishing.latencies(sent);
      const answers = sent.map(({ sentAt, answeredAt }) => answeredAt - sentAt);
      const times = [median(latencies), percentileOf(latencies, 0.99), median(answers)];
      return [name, String(sent.length), ...times.map((ms) => ms.toFixed(0))];
    };
    console.log(
      tableText([
        ["", "posts", "visible p50 ms", "visible p99 ms", "answered p50 ms"],
        row("idle, one at a time", idle),
        row(`${POSTS_PER_SECOND} posts a second`, loaded),
      ]),
    );
    const offered = (loaded.length / offeredMs) * 1000;
    const published = (loaded.length / publishedMs) * 1000;
    const perSecond = (delivered.length / spanMs) * 1000;
    console.log(
      `\naccepted ${offered.toFixed(0)}/s, published ${published.toFixed(0)}/s, ` +
        `webhooks ${perSecond.toFixed(0)}/s, ${peakPerSecond(delivered)} in the busiest second, ` +
        `${(delivered.length / loaded.length).toFixed(1)} events a post, each fanned out to one endpoint`,
    );
    const idleP50 = median(publishing.latencies(idle));
    const text = `visible within ${GOAL_IDLE_P50_MS} ms at idle (p50)`;
    const isMet = idleP50 <= GOAL_IDLE_P50_MS;
    console.log(goalText({ text, measured: `${idleP50.toFixed(0)} ms`, isMet }));
    console.log(`${availableParallelism()} cores, load ${loadavg()[0]?.toFixed(1)}`);
    await saveResults("publish", {
      eventsPerPost: ratio(delivered.length / loaded.length),
      publishedOfOffered: ratio(published / offered),
      tailOfMedianIdle: ratio(percentileOf(publishing.latencies(idle), 0.99) / idleP50),
    });
  } finally {
    await relay.stop();
  }
}

runBench(main);
