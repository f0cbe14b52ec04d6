import { loadavg, availableParallelism } from "node:os";
import { randomBytes } from "node:crypto";
import { buildApp } from "../tools/build.ts";
import { packagesOf, startSize, wholeSize } from "./bundle.ts";
import { startBenchStorage, type BenchStorage } from "./emulator.ts";
import { callOf, HEALTH_CALL } from "./first-calls.ts";
import { median } from "./load.ts";
import { BENCH_PREFIX, openTenant, settingsOf, startRelay } from "./relay.ts";
import { goalText, tableText } from "./report.ts";
import { ratio, saveResults } from "./results.ts";
import { prepareStarting, type Starting } from "./starting.ts";
import type { StartOrder } from "./starter.ts";
import { runBench } from "./run.ts";

const ROUNDS = 15;
const GOAL_REGISTERED = 2;

/** A process: how long it lived, and its CPU time, which other processes on the machine disturb less. */
interface Life {
  readonly wholeMs: number;
  readonly cpuMs: number;
}

type Round = Readonly<Record<"bare" | "library" | "registered" | "health" | "posts", Life>>;

/** What a reader's key and profile need to be there for, and the calls that are measured. */
async function ordersFor(storage: BenchStorage, starting: Starting, prefix: string) {
  const tenant = await openTenant(startRelay(storage, prefix));
  const app = { entry: starting.appEntry, notesModules: false };
  const health: StartOrder = { ...app, calls: [HEALTH_CALL] };
  const posts: StartOrder = { ...app, calls: [callOf(tenant, "get-v1-posts", "v1/posts")] };
  return { health, posts, registered: { ...app, calls: [] } };
}

async function measureRounds(storage: BenchStorage, starting: Starting): Promise<Round[]> {
  const prefix = `${BENCH_PREFIX}${randomBytes(6).toString("hex")}`;
  const orders = await ordersFor(storage, starting, prefix);
  const environment = settingsOf(storage, prefix);
  const library: StartOrder = { entry: starting.libraryEntry, calls: [], notesModules: false };
  const lifeOf = async (order: StartOrder): Promise<Life> => {
    const { report, wholeMs } = await starting.start(order, environment);
    const wrong = report.statuses.find((status) => status !== "200");
    if (wrong !== undefined) throw new Error(`a first request was answered with ${wrong}`);
    return { wholeMs, cpuMs: report.cpuMs };
  };
  const rounds: Round[] = [];
  // In turn, so that a machine that is busy for a moment slows all of them; the first round fills the disk's cache.
  for (let index = 0; index <= ROUNDS; index += 1) {
    const round = {
      bare: await starting.bareNode(),
      library: await lifeOf(library),
      registered: await lifeOf(orders.registered),
      health: await lifeOf(orders.health),
      posts: await lifeOf(orders.posts),
    };
    if (index > 0) rounds.push(round);
  }
  return rounds;
}

async function main(): Promise<void> {
  const metafile = await buildApp();
  const starting = await prepareStarting();
  const storage = await startBenchStorage();
  try {
    const rounds = await measureRounds(storage, starting);
    const of = (part: keyof Round, by: keyof Life) =>
      median(rounds.map((round) => round[part][by]));
    const times = (part: keyof Round, by: keyof Life) =>
      median(rounds.map((round) => round[part][by] / round.bare[by]));
    const row = (text: string, part: keyof Round) => [
      text,
      ...(["wholeMs", "cpuMs"] as const).flatMap((by) => [
        of(part, by).toFixed(0),
        `${times(part, by).toFixed(1)} ×`,
      ]),
    ];
    const timesOfAll = (by: keyof Life) => ({
      library: ratio(times("library", by)),
      registered: ratio(times("registered", by)),
      health: ratio(times("health", by)),
      posts: ratio(times("posts", by)),
    });
    console.log(
      tableText([
        ["start of a process until", "ms", "of bare node", "CPU ms", "of bare node"],
        row("it ends (bare node -e 0)", "bare"),
        row("@azure/functions is loaded", "library"),
        row("all functions are registered", "registered"),
        row("GET /health is answered", "health"),
        row("GET /v1/posts is answered", "posts"),
      ]),
    );
    const [start, whole] = [startSize(metafile), wholeSize(metafile)];
    const registered = times("registered", "wholeMs");
    const text = `registered within ${GOAL_REGISTERED} × bare node`;
    const isMet = registered <= GOAL_REGISTERED;
    console.log(goalText({ text, measured: `${registered.toFixed(2)} ×`, isMet }));
    console.log(
      `medians of ${ROUNDS} rounds, ${availableParallelism()} cores, load ${loadavg()[0]?.toFixed(1)}`,
    );
    await saveResults("coldStart", {
      ofBareNode: timesOfAll("wholeMs"),
      ofBareNodeByCpu: timesOfAll("cpuMs"),
      bytesAtStart: start.bytes,
      bytesInAll: whole.bytes,
      packagesAtStart: packagesOf(start),
    });
  } finally {
    await Promise.all([starting.stop(), storage.stop()]);
  }
}

runBench(main);
