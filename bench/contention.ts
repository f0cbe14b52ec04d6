import { loadavg } from "node:os";
import { setTimeout as delay } from "node:timers/promises";
import { percentileOf } from "./load.ts";
import type { Tenant } from "./relay.ts";
import { goalText, tableText } from "./report.ts";
import { ratio, saveResults } from "./results.ts";
import { runBench } from "./run.ts";
import { startWholeRelay, type WholeRelay } from "./whole-relay.ts";

const PROCESSES = [1, 4, 8];
/** Share of one process's rate, by the number of processes. */
const GOALS: Readonly<Record<number, number>> = { 4: 0.8, 8: 0.6 };
const GOAL_WAIT_MS = 5_000;
const GOAL_MORE_REQUESTS = 6;
/** The same callers, however many processes they are spread over. They never rest. */
const CALLERS = 64;
const SECONDS = 12;
/** Do not count: each process runs its first thousands of calls on code that is not compiled yet. */
const WARM_UP_POSTS = 2_500;
const WARM_UP_SECONDS_MAX = 180;
const LIVES = 5;
/** Longer than a post and its webhooks take. */
const LIFE_MS = 2_000;
const SETTLE_MS = 4_000;
const DAY_MS = 24 * 60 * 60 * 1_000;

interface Contended {
  readonly processes: number;
  readonly perSecond: number;
  readonly p99Ms: number;
  readonly longestMs: number;
  /** The median of what whole lives of posts ask of storage, without polls that find nothing. */
  readonly lifeRequests: number;
  readonly cpuMsPerPost: number;
}

async function requestsOf({ hosts }: WholeRelay): Promise<number> {
  let sum = 0;
  for (const host of hosts)
    for (const [name, count] of Object.entries((await host.figures()).requests))
      // Each message that was deleted was received once.
      if (name.startsWith("delete message")) sum += 2 * count;
      else if (!name.startsWith("receive")) sum += count;
  return sum;
}

async function lifeRequests(relay: WholeRelay, tenant: Tenant): Promise<number> {
  const lives: number[] = [];
  while (lives.length < LIVES) {
    const before = await requestsOf(relay);
    await relay.post(tenant);
    await delay(LIFE_MS);
    lives.push((await requestsOf(relay)) - before);
  }
  return percentileOf(lives, 0.5);
}

async function cpuMsOf({ hosts }: WholeRelay): Promise<number> {
  const all = await Promise.all(hosts.map((host) => host.cpuMs()));
  return all.reduce((sum, ms) => sum + ms, 0);
}

/** Posts that start a day later, so that accepting is all that the processes do. */
async function contend(processes: number): Promise<Contended> {
  const relay = await startWholeRelay("", processes);
  try {
    const [tenant] = await relay.openTenants(1);
    if (tenant === undefined) throw new Error("there is no tenant to post for");
    for (let index = 0; index < 3 * processes; index += 1) await relay.post(tenant);
    await delay(SETTLE_MS);
    const life = await lifeRequests(relay, tenant);
    const scheduleAt = new Date(Date.now() + DAY_MS).toISOString();
    const callFor = async (seconds: number, posts = Infinity) => {
      const until = performance.now() + seconds * 1_000;
      const waits: number[] = [];
      const caller = async () => {
        while (performance.now() < until && waits.length < posts) {
          const from = performance.now();
          await relay.post(tenant, { scheduleAt });
          waits.push(performance.now() - from);
        }
      };
      await Promise.all(Array.from({ length: CALLERS }, caller));
      return waits;
    };
    await callFor(WARM_UP_SECONDS_MAX, WARM_UP_POSTS * processes);
    const cpuBefore = await cpuMsOf(relay);
    const waits = await callFor(SECONDS);
    return {
      processes,
      perSecond: waits.length / SECONDS,
      p99Ms: percentileOf(waits, 0.99),
      longestMs: Math.max(...waits),
      lifeRequests: life,
      cpuMsPerPost: ((await cpuMsOf(relay)) - cpuBefore) / waits.length,
    };
  } finally {
    await relay.stop();
  }
}

runBench(async () => {
  const all: Contended[] = [];
  for (const processes of PROCESSES) all.push(await contend(processes));
  const [alone] = all;
  if (alone === undefined) throw new Error("nothing was measured");
  const head = ["processes", "accepted/s", "of one", "p99 ms", "longest", "CPU ms/post", "a life"];
  const rows = all.map((one) => [
    String(one.processes),
    one.perSecond.toFixed(0),
    (one.perSecond / alone.perSecond).toFixed(2),
    one.p99Ms.toFixed(0),
    one.longestMs.toFixed(0),
    one.cpuMsPerPost.toFixed(1),
    String(one.lifeRequests),
  ]);
  console.log(tableText([head, ...rows]));
  for (const one of all.slice(1)) {
    const ofOne = one.perSecond / alone.perSecond;
    const more = one.lifeRequests - alone.lifeRequests;
    const goal = GOALS[one.processes] ?? 0;
    const isMet = ofOne >= goal && one.longestMs <= GOAL_WAIT_MS && more <= GOAL_MORE_REQUESTS;
    const text = `${one.processes} processes: ${goal} of one, no wait over ${GOAL_WAIT_MS} ms, ${GOAL_MORE_REQUESTS} requests more for a life`;
    const measured = `${ofOne.toFixed(2)}, ${one.longestMs.toFixed(0)} ms, ${more}`;
    console.log(goalText({ text, measured, isMet }));
  }
  console.log(`load ${loadavg()[0]?.toFixed(1)}`);
  const results = all.map((one) => [
    `${one.processes} processes`,
    { ofOne: ratio(one.perSecond / alone.perSecond), lifeRequests: one.lifeRequests },
  ]);
  await saveResults("contention", Object.fromEntries(results));
});
