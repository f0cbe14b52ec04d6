import { setTimeout as wait } from "node:timers/promises";
import { Random } from "../../model/random.ts";
import { storedRows } from "../../setup/stored-rows.ts";
import { numberIn, type Ask } from "../soak/load.ts";
import { Receivers } from "../soak/receivers.ts";
import { takeSnapshot } from "../soak/snapshot.ts";
import { settingsOf } from "../soak/soak.ts";
import { createTenants, servicesOf, type Tenant } from "../soak/tenants.ts";
import { violationsOf } from "../soak/verdict.ts";
import { dataOf, startRelayProcess, type RelayProcess } from "../relay/relay-process.ts";
import { startWorld, type World } from "../relay/world.ts";
import { NEXT_COLUMN } from "./breaking-builds.ts";
import { unpack, type Build } from "./builds.ts";

const AHEAD_MS = 12_000;
const SCHEDULED_OF = 4;
const REST_MS_MAX = 120_000;
const POLL_MS = 2_000;

interface Options {
  readonly kept: Build;
  readonly next: Build;
  /** In each of the phases. */
  readonly posts: number;
  /** How often the deployment goes to the next build and back. */
  readonly rounds: number;
  readonly connectionString: string;
  /** Whether storage may be too slow for so many posts: what it does not answer in time is no violation. */
  readonly isCrowded?: boolean;
  /** Ends the wait for rest early, where something has to be noticed and not to go well. */
  readonly restMs?: number;
}

export interface Outcome {
  readonly posts: number;
  readonly legs: number;
  readonly deliveries: number;
  /** What was noticed, each once. */
  readonly violations: readonly string[];
}

/** What a process says of storage that does not answer in time: it tries again. */
const TRIES_AGAIN =
  /^Executed '|can't answer right now|operation was aborted|takes too long|storage fails/;

/** One deployment on which two builds run, together and in turn, while its customers post. */
class Deployment {
  readonly asks: Ask[] = [];
  readonly violations = new Set<string>();
  readonly #tenants: readonly Tenant[];
  readonly #isCrowded: boolean;

  constructor(tenants: readonly Tenant[], isCrowded: boolean) {
    this.#tenants = tenants;
    this.#isCrowded = isCrowded;
  }

  /** Posts by these processes in turn, and asks each time again by the next of them. */
  async post(relays: readonly RelayProcess[], posts: number): Promise<void> {
    for (let begun = 0; begun < posts; begun += this.#tenants.length)
      await Promise.all(
        this.#tenants.map((tenant, index) => this.#ask(tenant, relays, begun + index)),
      );
  }

  async #ask(tenant: Tenant, relays: readonly RelayProcess[], turn: number): Promise<void> {
    const number = this.asks.length + 1;
    const isScheduled = turn % SCHEDULED_OF === number % SCHEDULED_OF;
    const key = `release-${number}`;
    const ask = { number, tenant, key, isScheduled, isFaulty: false, postIds: new Set<string>() };
    this.asks.push(ask);
    const scheduleAt = new Date(Date.now() + AHEAD_MS).toISOString();
    const body = {
      text: `No. ${number} of the soak`,
      platforms: tenant.networks,
      externalId: key,
      ...(isScheduled ? { scheduleAt } : {}),
    };
    for (const repeat of [0, 1]) {
      const relay = relays[(turn + repeat) % relays.length];
      const answer = await relay?.call("POST", "/v1/posts", {
        bearer: tenant.customer.key,
        headers: { "x-profile-id": tenant.customer.profileId, "idempotency-key": key },
        body,
      });
      if (answer === undefined || answer.status >= 300)
        this.violations.add(`POST /v1/posts was answered ${answer?.status}`);
      else ask.postIds.add(String(dataOf(answer).id));
    }
  }

  /** Notes error lines, and calls of functions that failed. */
  listen = (line: string): void => {
    const error =
      /"level":"error".*"message":"(?<message>[^"]*)"|"message":"(?<early>[^"]*)".*"level":"error"/.exec(
        line,
      );
    const failed = /Executed '[a-z-]+' \(Failed/.exec(line)?.[0];
    const noticed = failed ?? error?.groups?.["message"] ?? error?.groups?.["early"];
    if (noticed === undefined || (this.#isCrowded && TRIES_AGAIN.test(noticed))) return;
    this.violations.add(noticed);
  };
}

/** The keys of posts, legs and wallets, with whether the next build's column is in them. */
async function nextColumns(settings: Readonly<Record<string, string>>) {
  const rows = await storedRows({ settings, storage: undefined });
  const own = rows.filter(({ table, rowKey }) => table === "core" && /^(P\||W$)/.test(rowKey));
  return new Map(
    own.map((row) => [`${row.partitionKey} ${row.rowKey}`, row.text.includes(NEXT_COLUMN)]),
  );
}

interface Stage extends Options {
  readonly deployment: Deployment;
  readonly processes: { readonly kept: RelayProcess; readonly next: RelayProcess };
  readonly settings: Readonly<Record<string, string>>;
}

/** Both, the next one alone, the kept one alone: the change is made while posts are on their way. */
async function upAndBack({ deployment, processes, posts, settings }: Stage): Promise<void> {
  const { kept, next } = processes;
  await deployment.post([kept, next], posts);
  await Promise.all([deployment.post([next], posts), kept.end()]);
  const before = await nextColumns(settings);
  await kept.restart();
  await Promise.all([deployment.post([kept], posts), next.end()]);
  const after = await nextColumns(settings);
  for (const [key, had] of before)
    if (had && after.get(key) === false)
      deployment.violations.add(`a column of the next build is gone: ${key.split(" ")[1]?.[0]}`);
}

async function rest(stage: Stage, world: World, receivers: Receivers, tenants: readonly Tenant[]) {
  const { deployment, processes, restMs = REST_MS_MAX } = stage;
  const until = Date.now() + restMs;
  for (;;) {
    const visible = world.sandbox.posts().filter(({ text }) => numberIn(text) !== undefined);
    const snapshots = [];
    for (const tenant of tenants) snapshots.push(await takeSnapshot(processes.kept, tenant));
    const { asks } = deployment;
    const arrivals = (path: string) => receivers.arrivals(path);
    const found = violationsOf(snapshots, { asks, visible, arrivals });
    if (found.length === 0 || Date.now() > until) return { visible, found };
    await wait(POLL_MS);
  }
}

/**
 * Runs a kept build and the next one on one storage under load: both, the next one alone, the kept one alone. Returns
 * what was lost, doubled, refused or not understood.
 */
export async function runSideBySide(options: Options): Promise<Outcome> {
  const random = new Random(1);
  const receivers = await Receivers.start(random);
  receivers.isCalm = true;
  const world = await startWorld(receivers.hosts);
  const settings = await settingsOf(world, options.connectionString);
  const running: RelayProcess[] = [];
  let onLine: (line: string) => void = () => undefined;
  const start = async (build: Build) => {
    const folder = await unpack(build);
    const process = await startRelayProcess({ folder, settings, onLine: (line) => onLine(line) });
    running.push(process);
    return process;
  };
  try {
    const kept = await start(options.kept);
    const services = servicesOf(settings);
    const tenants = await createTenants({ relay: kept, world, services, receivers });
    const deployment = new Deployment(tenants, options.isCrowded ?? false);
    onLine = deployment.listen;
    const next = await start(options.next);
    const stage = { ...options, deployment, processes: { kept, next }, settings };
    for (let round = 1; round <= options.rounds; round += 1) {
      await upAndBack(stage);
      if (round < options.rounds) await next.restart();
    }
    const { visible, found } = await rest(stage, world, receivers, tenants);
    return {
      posts: deployment.asks.length,
      legs: visible.length,
      deliveries: receivers.calls,
      violations: [...deployment.violations, ...receivers.violations, ...found],
    };
  } finally {
    await Promise.all(running.map((process) => process.stop()));
    await Promise.all([world.stop(), receivers.stop()]);
  }
}
