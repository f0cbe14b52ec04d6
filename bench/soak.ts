import { availableParallelism, loadavg } from "node:os";
import { measure, median, offer, percentileOf } from "./load.ts";
import { PublishingInRegion } from "./publishing-in-region.ts";
import { tableText } from "./report.ts";
import { ratio, saveResults } from "./results.ts";
import { runBench } from "./run.ts";

/** Of the soak; another number as the only argument. */
const MINUTES = Number(process.argv[2] ?? 15);
const TENANTS = 100;
const SHARE_OF_CEILING = 0.6;
const CEILING_POSTS = 1_500;
const CEILING_CONCURRENCY = 64;
const WARM_UP_POSTS = 500;
/** The last third beside the first: more than chance, and less than anything that would matter in a day. */
const GROWTH_MAX = 1.3;
/** Messages that wait at any moment under a steady load. */
const WAITING_MAX = 500;

interface Minute {
  readonly posts: number;
  readonly answeredP50: number;
  readonly visibleP50: number;
  readonly visibleP99: number;
  readonly residentBytes: number;
  readonly heapBytes: number;
  readonly waiting: number;
}

/** Posts a second that are accepted while all that follows from them is done as well. */
async function ceilingOf(publishing: PublishingInRegion): Promise<number> {
  const load = {
    concurrency: CEILING_CONCURRENCY,
    call: async () => void (await publishing.post()),
  };
  await measure({ ...load, calls: WARM_UP_POSTS });
  await publishing.untilTold();
  const from = performance.now();
  await measure({ ...load, calls: CEILING_POSTS });
  await publishing.untilTold();
  return (CEILING_POSTS / (performance.now() - from)) * 1000;
}

async function minuteOf(publishing: PublishingInRegion, perSecond: number): Promise<Minute> {
  const calls = Math.round(perSecond * 60);
  const posts = await offer({ calls, perSecond, call: () => publishing.post() });
  const waiting = publishing.waiting();
  const visible = await publishing.latencies(posts);
  publishing.trim();
  return {
    posts: posts.length,
    answeredP50: median(posts.map(({ answeredMs }) => answeredMs)),
    visibleP50: median(visible),
    visibleP99: percentileOf(visible, 0.99),
    residentBytes: process.memoryUsage.rss(),
    heapBytes: publishing.heapBytes(),
    waiting,
  };
}

/** The median of the last third of the minutes beside that of the first. */
function growthOf(minutes: readonly Minute[], of: (minute: Minute) => number): number {
  const third = Math.max(1, Math.floor(minutes.length / 3));
  const [first, last] = [minutes.slice(0, third), minutes.slice(-third)];
  return median(last.map(of)) / Math.max(1, median(first.map(of)));
}

const megabytes = (bytes: number) => (bytes / 1_000_000).toFixed(0);

function verdictOf(minutes: readonly Minute[]): string {
  const waitingMost = Math.max(...minutes.map(({ waiting }) => waiting));
  const verdict = (isMet: boolean) => (isMet ? "met" : "MISSED");
  const growth = (name: string, of: (minute: Minute) => number) => {
    const grown = growthOf(minutes, of);
    return [name, grown.toFixed(2), verdict(grown <= GROWTH_MAX)];
  };
  return tableText([
    ["last third beside the first", "", ""],
    growth("answered p50", ({ answeredP50 }) => answeredP50),
    growth("visible p50", ({ visibleP50 }) => visibleP50),
    growth("resident memory", ({ residentBytes }) => residentBytes),
    growth("heap in use", ({ heapBytes }) => heapBytes),
    ["messages waiting at most", String(waitingMost), verdict(waitingMost <= WAITING_MAX)],
  ]);
}

async function main(): Promise<void> {
  const publishing = await PublishingInRegion.start(TENANTS);
  try {
    const ceiling = await ceilingOf(publishing);
    const perSecond = ceiling * SHARE_OF_CEILING;
    console.log(
      `accepted, published and told at most ${ceiling.toFixed(0)}/s; ${MINUTES} minutes at ${perSecond.toFixed(0)}/s`,
    );
    const minutes: Minute[] = [];
    while (minutes.length < MINUTES) {
      const minute = await minuteOf(publishing, perSecond);
      minutes.push(minute);
      console.log(
        `${minutes.length}: ${minute.posts} posts, answered p50 ${minute.answeredP50.toFixed(0)} ms, ` +
          `visible p50 ${minute.visibleP50.toFixed(0)} ms, p99 ${minute.visibleP99.toFixed(0)} ms, ` +
          `${megabytes(minute.residentBytes)} MB resident, ${megabytes(minute.heapBytes)} MB in use, ` +
          `${minute.waiting} messages wait`,
      );
    }
    await publishing.untilTold();
    console.log(`\n${verdictOf(minutes)}`);
    console.log(`every accepted post (${publishing.accepted}) was published and told`);
    console.log(`${availableParallelism()} cores, load ${loadavg()[0]?.toFixed(1)}`);
    await saveResults("soak", {
      minutes: MINUTES,
      latencyGrowth: ratio(growthOf(minutes, ({ visibleP50 }) => visibleP50)),
      memoryGrowth: ratio(growthOf(minutes, ({ heapBytes }) => heapBytes)),
    });
  } finally {
    await publishing.stop();
  }
}

runBench(main);
