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
/** Share of the rate of as many processes with a wallet each. */
const GOAL_OF_APART = 0.85;
const GOAL_WAIT_BESIDE_WORK_MS = 2_000;
/** Requests of a life beyond those with one process, by the number of processes. */
const GOALS_OF_A_LIFE: Readonly<Record<number, number>> = { 4: 6 };
/** The same callers, however many processes they are spread over. They never rest. */
const CALLERS = 64;
const SECONDS = 12;
/** Do not count: each process runs its first calls on code that is not compiled yet. */
const WARM_UP_POSTS = 500;
const WARM_UP_SECONDS_MAX = 180;
const LIVES = 5;
/** Longer than a post and its webhooks take. */
const LIFE_MS = 2_000;
const SETTLE_MS = 4_000;
const DAY_MS = 24 * 60 * 60 * 1_000;
/** How long the network takes for a post that starts immediately, while workers of all processes are beside. */
const NETWORK_MS = 30_000;

interface Contended {
  readonly processes: number;
  readonly perSecond: number;
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

async function lifeRequests(relay: WholeRelay, tenants: readonly Tenant[]): Promise<number> {
  const lives: number[] = [];
  while (lives.length < LIVES) {
    const before = await requestsOf(relay);
    await relay.post(tenants);
    await delay(LIFE_MS);
    lives.push((await requestsOf(relay)) - before);
  }
  return percentileOf(lives, 0.5);
}

async function cpuMsOf({ hosts }: WholeRelay): Promise<number> {
  const all = await Promise.all(hosts.map((host) => host.cpuMs()));
  return all.reduce((sum, ms) => sum + ms, 0);
}

/**
 * Accepts posts on one wallet or on one for each process. They start a day later, or immediately, so that workers write
 * to the same wallets.
 */
async function contend(
  processes: number,
  wallets: number,
  starts: "later" | "immediately" = "later",
): Promise<Contended> {
  const relay = await startWholeRelay("", processes, starts === "later" ? 0 : NETWORK_MS);
  try {
    const tenants = await relay.openTenants(wallets);
    for (let index = 0; index < 3 * processes; index += 1) await relay.post(tenants);
    await delay(SETTLE_MS);
    const life = starts === "later" ? await lifeRequests(relay, tenants) : 0;
    const scheduleAt = new Date(Date.now() + DAY_MS).toISOString();
    const body = starts === "later" ? { scheduleAt } : {};
    const callFor = async (seconds: number, posts = Infinity) => {
      const until = performance.now() + seconds * 1_000;
      const waits: number[] = [];
      const caller = async () => {
        while (performance.now() < until && waits.length < posts) {
          const from = performance.now();
          await relay.post(tenants, body);
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
      longestMs: Math.max(...waits),
      lifeRequests: life,
      cpuMsPerPost: ((await cpuMsOf(relay)) - cpuBefore) / waits.length,
    };
  } finally {
    await relay.stop();
  }
}

runBench(async () => {
  const all: (Contended & { readonly ofOne: number; readonly ofApart: number })[] = [];
  for (const processes of PROCESSES) {
    const one = await contend(processes, 1);
    // Processes that share nothing but the machine: those that share a wallet can't do more.
    const apart = await contend(processes, processes);
    const ofOne = ratio(one.perSecond / (all[0] ?? one).perSecond);
    all.push({ ...one, ofOne, ofApart: ratio(one.perSecond / apart.perSecond) });
  }
  const head = "processes,accepted/s,of one,of apart,longest,CPU ms/post,a life".split(",");
  const rows = all.map((one) => [
    `${one.processes}`,
    one.perSecond.toFixed(0),
    `${one.ofOne}`,
    `${one.ofApart}`,
    one.longestMs.toFixed(0),
    one.cpuMsPerPost.toFixed(1),
    `${one.lifeRequests}`,
  ]);
  console.log(tableText([head, ...rows]));
  for (const { processes, ofOne, longestMs, lifeRequests: life } of all.slice(1)) {
    const more = life - (all[0]?.lifeRequests ?? 0);
    const goal = GOALS[processes] ?? 0;
    const text = `${processes} processes: ${goal} of one, no wait over ${GOAL_WAIT_MS} ms`;
    const isMet = ofOne >= goal && longestMs <= GOAL_WAIT_MS;
    console.log(goalText({ text, measured: `${ofOne}, ${longestMs.toFixed(0)} ms`, isMet }));
    const mostMore = GOALS_OF_A_LIFE[processes];
    if (mostMore === undefined) continue;
    const lifeText = `${processes} processes: at most ${mostMore} requests more for a life`;
    console.log(goalText({ text: lifeText, measured: `${more}`, isMet: more <= mostMore }));
  }
  const most = Math.max(...PROCESSES);
  const besideWork = await contend(most, 1, "immediately");
  const apartBesideWork = await contend(most, most, "immediately");
  const ofApart = ratio(besideWork.perSecond / apartBesideWork.perSecond);
  const { longestMs } = besideWork;
  const workText = `${most} processes beside their workers: ${GOAL_OF_APART} of as many with a wallet each, no wait over ${GOAL_WAIT_BESIDE_WORK_MS} ms`;
  const isMet = ofApart >= GOAL_OF_APART && longestMs <= GOAL_WAIT_BESIDE_WORK_MS;
  const measured = `${ofApart}, ${longestMs.toFixed(0)} ms (a wallet each: ${apartBesideWork.longestMs.toFixed(0)} ms)`;
  console.log(goalText({ text: workText, measured, isMet }));
  const results = all.map(({ processes, ofOne, ofApart, lifeRequests: life }) => {
    return [`${processes} processes`, { ofOne, ofApart, lifeRequests: life }];
  });
  await saveResults("contention", { ...Object.fromEntries(results), besideWork: { ofApart } });
});
