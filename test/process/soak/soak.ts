import { randomBytes } from "node:crypto";
import { readFile } from "node:fs/promises";
import { setTimeout as wait } from "node:timers/promises";
import { reconcileWallet } from "../../../src/shared/ledger/reconcile-wallet.ts";
import type { Services } from "../../../src/shared/compose.ts";
import { Random } from "../../model/random.ts";
import { startWorld } from "../relay/world.ts";
import type { World } from "../relay/world.ts";
import { Fleet } from "./fleet.ts";
import { Load, numberIn } from "./load.ts";
import { startQueueWeather } from "./queue-weather.ts";
import type { QueueWeather } from "./queue-weather.ts";
import { Receivers } from "./receivers.ts";
import { reportOf } from "./report.ts";
import type { Report } from "./report.ts";
import { countOpen, takeSnapshot } from "./snapshot.ts";
import { createTenants, FOUNDED_HOSTS, servicesOf } from "./tenants.ts";
import type { Tenant } from "./tenants.ts";
import { violationsOf } from "./verdict.ts";

const RECONCILE_MS = 60_000;
/** A killed host keeps its messages for ten minutes; everything has to come to rest without them. */
const EVENTS_SETTLED_MS = 16_000;
const DRAIN_MS_MAX = 300_000;
/** Longer than a lost hint is waited for, twice over. */
const UNCHANGED_MS_MAX = 150_000;
const DRAIN_POLL_MS = 2_000;
/** How far ahead posts are scheduled, at most: the shorter the soak, the nearer. */
const [AHEAD_MS_LEAST, AHEAD_MS_MAX] = [8_000, 45_000];

/** Waits short enough for a soak to see what comes after them. */
const SETTINGS = {
  // More posts than an account may have in a day: what is looked for here is not a quota.
  QUOTA_LINKEDIN: "10000",
  NETWORK_TIMEOUT_MS: "4000",
  LEG_LEASE_SECONDS: "8",
  LEG_RETRY_SECONDS: "1,2,5,10,20",
  WORK_CHECK_SECONDS: "5",
  TICK_SECONDS: "5",
  WEBHOOK_TIMEOUT_MS: "2000",
  WEBHOOK_RETRY_SECONDS: "1,2,4,8,15,30,30,30,30",
  LEG_PACE_PER_SECOND: "100",
} as const;

export interface SoakOptions {
  readonly seconds: number;
  readonly hosts: number;
  readonly postsPerSecond: number;
  /** Shortest and longest time between two kills. */
  readonly killsEveryMs?: readonly [least: number, most: number];
  readonly seed: number;
  readonly connectionString: string;
}

interface Stage {
  readonly options: SoakOptions;
  readonly world: World;
  readonly receivers: Receivers;
  readonly weather: QueueWeather;
  readonly fleet: Fleet;
  readonly services: Services;
  readonly random: Random;
}

/** The networks' applications that the sandbox knows. */
async function networkApps(): Promise<Record<string, string>> {
  const example = JSON.parse(await readFile("local.settings.json.example", "utf8")) as {
    readonly Values: Readonly<Record<string, string>>;
  };
  const own = Object.entries(example.Values).filter(([name]) => /^(FACEBOOK|LINKEDIN)_/.test(name));
  return Object.fromEntries(own);
}

/** Settings of every process of one deployment, in a corner of its own of the storage. */
export async function settingsOf(world: World, connectionString: string) {
  const map = JSON.parse(world.settings["OUTBOUND_HOST_MAP"] ?? "{}") as Record<string, string>;
  for (const host of FOUNDED_HOSTS) map[host] = world.sandbox.url;
  return {
    ...SETTINGS,
    ...(await networkApps()),
    ...world.settings,
    OUTBOUND_HOST_MAP: JSON.stringify(map),
    AzureWebJobsStorage: connectionString,
    STORAGE_PREFIX: `k${randomBytes(5).toString("hex")}`,
  };
}

async function reconcileUntil(
  { services }: Stage,
  tenants: readonly Tenant[],
  signal: AbortSignal,
): Promise<{ readonly count: number; readonly mismatches: readonly string[] }> {
  const mismatches: string[] = [];
  let count = 0;
  const reconcile = async () => {
    for (const { name, customer } of tenants)
      for (const mismatch of await reconcileWallet(services.ledger, customer.platformId))
        mismatches.push(`${name} does not reconcile: ${mismatch}`);
    count += 1;
  };
  while (!signal.aborted) {
    await wait(RECONCILE_MS, undefined, { signal }).catch(() => {});
    await reconcile();
  }
  return { count, mismatches };
}

/** Waits until nothing is open any more and every receiver has everything; judges what is there in the end. */
async function comeToRest(stage: Stage, load: Load, tenants: readonly Tenant[]) {
  const { fleet, random, world, receivers } = stage;
  const startedAt = Date.now();
  const relay = await fleet.any(random);
  let [changedAt, last] = [startedAt, -1];
  const isOver = () =>
    Date.now() - startedAt > DRAIN_MS_MAX || Date.now() - changedAt > UNCHANGED_MS_MAX;
  const isOpen = async () => {
    const open = await Promise.all(tenants.map((tenant) => countOpen(relay, tenant)));
    return open.some((count) => count > 0);
  };
  while ((await isOpen()) && !isOver()) await wait(DRAIN_POLL_MS);
  // What is judged is what the list of events shows, and that holds the young ones back.
  await wait(EVENTS_SETTLED_MS);
  for (;;) {
    await wait(DRAIN_POLL_MS);
    const snapshots = [];
    for (const tenant of tenants) snapshots.push(await takeSnapshot(relay, tenant));
    const visible = world.sandbox.posts().filter(({ text }) => numberIn(text) !== undefined);
    const violations = violationsOf(snapshots, {
      asks: load.asks,
      visible,
      arrivals: (path) => receivers.arrivals(path),
    });
    if (violations.length !== last) [changedAt, last] = [Date.now(), violations.length];
    if (violations.length === 0 || isOver())
      return { snapshots, visible, violations, drainedMs: Date.now() - startedAt };
  }
}

async function play(stage: Stage): Promise<Report> {
  const { options, world, receivers, weather, fleet, services, random } = stage;
  const relay = await fleet.any(random);
  const tenants = await createTenants({ relay, world, services, receivers });
  const load = new Load(fleet, tenants, random);
  const time = AbortSignal.timeout(options.seconds * 1000);
  const aheadMsMax = Math.max(AHEAD_MS_LEAST, Math.min(AHEAD_MS_MAX, options.seconds * 500));
  const [reconciled] = await Promise.all([
    reconcileUntil(stage, tenants, time),
    fleet.crash(random, time, options.killsEveryMs),
    load.run(options.postsPerSecond, aheadMsMax, time),
  ]);
  weather.calm();
  receivers.isCalm = true;
  const rest = await comeToRest(stage, load, tenants);
  return reportOf({
    ...options,
    ...rest,
    fleet,
    load,
    receivers,
    messages: weather.counts,
    reconciliations: reconciled.count,
    violations: [
      ...load.violations,
      ...receivers.violations,
      ...reconciled.mismatches,
      ...fleet.complaints.walletMismatches,
      ...rest.violations,
    ],
  });
}

/** Several host processes under load while they are killed and their messages lost and doubled; then rest, and the rules. */
export async function runSoak(options: SoakOptions): Promise<Report> {
  const random = new Random(options.seed);
  const receivers = await Receivers.start(random);
  const [world, weather] = await Promise.all([
    startWorld(receivers.hosts),
    startQueueWeather(options.connectionString, random),
  ]);
  const fleet = new Fleet();
  try {
    const settings = await settingsOf(world, weather.connectionString);
    await fleet.start(options.hosts, settings);
    const services = servicesOf(settings);
    return await play({ options, world, receivers, weather, fleet, services, random });
  } catch (error) {
    throw new Error(`the soak broke off:\n${fleet.output()}`, { cause: error });
  } finally {
    await fleet.stop();
    await Promise.all([world.stop(), weather.stop(), receivers.stop()]);
  }
}
