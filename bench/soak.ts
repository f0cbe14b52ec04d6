import { availableParallelism, loadavg } from "node:os";
import { setTimeout as delay } from "node:timers/promises";
import { QueueClient } from "@azure/storage-queue";
import { measure, median, offer, percentileOf } from "./load.ts";
import { tableText } from "./report.ts";
import { ratio, saveResults } from "./results.ts";
import { runBench } from "./run.ts";
import type { Tenant } from "./relay.ts";
import { keepTrimmed } from "./trim.ts";
import { startWholeRelay, type WholeRelay } from "./whole-relay.ts";

/** Of the soak; another number as the only argument. */
const MINUTES = Number(process.argv[2] ?? 15);
const TENANTS = 40;
const SHARE_OF_CEILING = 0.6;
const CEILING_CALLS = 400;
const CEILING_CONCURRENCY = 16;
const WARM_UP_CALLS = 100;
const MINUTE_MS = 60_000;
const QUEUES = ["publish-legs", "fan-out-events", "deliver-webhooks"] as const;
/** post.processing, leg.succeeded, post.succeeded. */
const EVENTS_OF_POST = 3;
const DRAIN_MS_MAX = 300_000;
/** The last third beside the first: more than chance, and less than anything that would matter in a day. */
const GROWTH_MAX = 1.3;
/** Messages that wait at any moment under a steady load. */
const WAITING_MAX = 500;

interface Minute {
  readonly posts: number;
  readonly p50: number;
  readonly p99: number;
  readonly residentBytes: number;
  readonly waiting: number;
}

class Soak {
  readonly #relay: WholeRelay;
  readonly #tenants: readonly Tenant[];
  readonly #queues: readonly QueueClient[];
  accepted = 0;

  constructor(relay: WholeRelay, tenants: readonly Tenant[]) {
    this.#relay = relay;
    this.#tenants = tenants;
    const { storage, prefix } = relay;
    this.#queues = QUEUES.map((name) => new QueueClient(storage.queues, prefix + name));
  }

  async post(index: number): Promise<number> {
    const tenant = this.#tenants[index % this.#tenants.length];
    if (tenant === undefined) throw new Error("there is no tenant to post for");
    const from = performance.now();
    await this.#relay.post(tenant);
    this.accepted += 1;
    return performance.now() - from;
  }

  /** Posts a second that are accepted while all that follows from them is done as well. */
  async ceiling(): Promise<number> {
    const call = async (index: number) => void (await this.post(index));
    await measure({ calls: WARM_UP_CALLS, concurrency: CEILING_CONCURRENCY, call });
    await this.drain();
    const from = performance.now();
    await measure({ calls: CEILING_CALLS, concurrency: CEILING_CONCURRENCY, call });
    await this.drain();
    return (CEILING_CALLS / (performance.now() - from)) * 1000;
  }

  async waiting(): Promise<number> {
    const counts = await Promise.all(
      this.#queues.map(async (queue) => {
        const { approximateMessagesCount } = await queue.getProperties();
        return approximateMessagesCount ?? 0;
      }),
    );
    return counts.reduce((sum, count) => sum + count, 0);
  }

  /** Until everything that was accepted is published, and every webhook of it came. */
  async drain(): Promise<void> {
    const { network } = this.#relay;
    const deadline = performance.now() + DRAIN_MS_MAX;
    const isDone = () =>
      network.visible.size >= this.accepted &&
      network.deliveries.length >= this.accepted * EVENTS_OF_POST;
    while (!isDone()) {
      if (performance.now() > deadline) throw new Error("posts are not published and told");
      await delay(100);
    }
  }

  async minute(perSecond: number): Promise<Minute> {
    const posts = Math.round((perSecond * MINUTE_MS) / 1000);
    const latencies = await offer({ calls: posts, perSecond, call: (index) => this.post(index) });
    const [residentBytes, waiting] = await Promise.all([
      this.#relay.residentBytes(),
      this.waiting(),
    ]);
    return {
      posts,
      p50: median(latencies),
      p99: percentileOf(latencies, 0.99),
      residentBytes,
      waiting,
    };
  }
}

/** The median of the last third of the minutes beside that of the first. */
function growthOf(minutes: readonly Minute[], of: (minute: Minute) => number): number {
  const third = Math.max(1, Math.floor(minutes.length / 3));
  const [first, last] = [minutes.slice(0, third), minutes.slice(-third)];
  return median(last.map(of)) / Math.max(1, median(first.map(of)));
}

async function main(): Promise<void> {
  const relay = await startWholeRelay();
  try {
    const soak = new Soak(relay, await relay.openTenants(TENANTS));
    const ceiling = await soak.ceiling();
    const perSecond = ceiling * SHARE_OF_CEILING;
    console.log(
      `accepted, published and told at most ${ceiling.toFixed(0)}/s; ${MINUTES} minutes at ${perSecond.toFixed(0)}/s`,
    );
    const trimming = keepTrimmed(relay);
    const minutes: Minute[] = [];
    for (let index = 0; index < MINUTES; index += 1) {
      const minute = await soak.minute(perSecond);
      minutes.push(minute);
      console.log(
        `${index + 1}: ${minute.posts} posts, p50 ${minute.p50.toFixed(0)} ms, p99 ${minute.p99.toFixed(0)} ms, ` +
          `${(minute.residentBytes / 1_000_000).toFixed(0)} MB, ${minute.waiting} messages wait`,
      );
    }
    await soak.drain();
    const trimmed = await trimming.stop();
    const growth = {
      latency: growthOf(minutes, ({ p50 }) => p50),
      memory: growthOf(minutes, ({ residentBytes }) => residentBytes),
    };
    const waitingMost = Math.max(...minutes.map(({ waiting }) => waiting));
    const verdict = (isMet: boolean) => (isMet ? "met" : "MISSED");
    console.log(
      `\n${tableText([
        ["last third beside the first", "", ""],
        ["p50", growth.latency.toFixed(2), verdict(growth.latency <= GROWTH_MAX)],
        ["memory", growth.memory.toFixed(2), verdict(growth.memory <= GROWTH_MAX)],
        ["messages waiting at most", String(waitingMost), verdict(waitingMost <= WAITING_MAX)],
      ])}`,
    );
    console.log(
      `every accepted post (${soak.accepted}) was published and told; ${trimmed} rows removed`,
    );
    console.log(`${availableParallelism()} cores, load ${loadavg()[0]?.toFixed(1)}`);
    await saveResults("soak", {
      minutes: MINUTES,
      latencyGrowth: ratio(growth.latency),
      memoryGrowth: ratio(growth.memory),
    });
  } finally {
    await relay.stop();
  }
}

runBench(main);
