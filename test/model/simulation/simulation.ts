import { monthsLater, reconcileAll, redriveAll } from "./aftermath.ts";
import type { Log } from "../../../src/shared/runtime/log.ts";
import { withComments } from "./comments.ts";
import { Bystanders } from "./bystanders.ts";
import { ASKED_WITHIN_MS, Customers } from "./customers.ts";
import { History } from "./history.ts";
import { Hosts, type World } from "./hosts.ts";
import { natureOf } from "../machine.ts";
import { THE_PRODUCT, type Mutant } from "./mutant.ts";
import { NetworkModel } from "./network-model.ts";
import { StormyQueues } from "../stormy-queues.ts";
import { Observer, SILENT } from "./observer.ts";
import { PartitionLoad } from "../partition-load.ts";
import { Random } from "../random.ts";
import { violationsOf } from "./rules.ts";
import { TableModel } from "../table-model.ts";
import { createTenants, type Tenant } from "./tenants.ts";
import { inVirtualTime, VirtualTime } from "../virtual-time.ts";
import {
  BAD_POST,
  CALM,
  FLOOD_EVERY,
  PLATFORMS_EVERY,
  ratesOf,
  STANDSTILL_EVERY,
  STORM,
  STORM_EVERY,
  type Counts,
  type Rates,
} from "../weather.ts";

/** Runs begin on one of so many days. */
const EPOCH = Date.parse("2026-03-04T00:00:00.000Z");
const DAY_MS = 24 * 60 * 60_000;
export const SEEDS_OF_ERA = 20_000;
/** Of so many runs one has a midnight in its first minutes. */
const MIDNIGHT_EVERY = 3;
const HOURS_OF_DAY = 18;
const DAYS = 100;

const PROCESSES = [1, 2, 3, 3, 4, 5, 6, 8] as const;
const TROUBLE_MS = 200_000;
/** Of so many runs one has receivers that fail all the time, and for some minutes after the rest is calm. */
const OUTAGE_EVERY = 4;
const OUTAGE_MINUTES_MAX = 15;
/** Of so many, one lets deliveries die. */
const LONG_OUTAGE_EVERY = 16;
const LONG_OUTAGE_MINUTES = 60;
/** Runs with queries over partitions whose first page is always empty; with an erasure; without trouble; of months. */
const EMPTY_EVERY = 4;
const ERASURE_EVERY = 3;
const QUIET_EVERY = 10;
/**
 * Of so many runs one has removals and first comments: none in which a mutant of other safeguards is known to show, since
 * they make it another run.
 */
const FOLLOW_UPS_EVERY = 11;
const FOLLOW_UPS_AT = 9;
const MONTHS_EVERY = 5;
const SET_UP_MS_MAX = 600_000;
const SET_UP_STEP_MS = 100;
const STORM_MS = 12_000;
const STORMS = 3;
const STANDSTILL_MS = 450_000;
const BELATED = 5;
const CHECK_MS = 30_000;
/** Everything has to end within this time after the trouble did. */
const REST_MS_MAX = 3 * 60 * 60_000;
/** The same, in the midst of many others, who would hold up everybody behind them. */
const REST_AMONG_MANY_MS_MAX = 12 * 60_000;

export interface Outcome {
  readonly seed: number;
  readonly counts: Counts;
  readonly violations: readonly string[];
}

function startOf(seed: number): number {
  const day = EPOCH + (seed % DAYS) * DAY_MS;
  if (seed % MIDNIGHT_EVERY === 1) return day - (seed % 100) * 1_000;
  return day + (1 + (seed % HOURS_OF_DAY)) * 60 * 60_000;
}

/** One seeded run: customers, processes, networks and a weather that breaks what can break; then calm, and the rules. */
export class Simulation {
  readonly world: World;
  readonly customers: Customers;
  readonly hosts: Hosts;
  tenants: readonly Tenant[] = [];
  #bystanders: Bystanders | undefined;
  readonly #seed: number;
  readonly #mutant: Mutant;
  readonly #random: Random;
  readonly #time: VirtualTime;

  constructor(seed: number, mutant: Mutant, log: Log) {
    this.#seed = seed;
    this.#mutant = mutant;
    this.#random = new Random(seed * 7_919 + mutant.era);
    this.#time = new VirtualTime(startOf(seed));
    const nature = { ...natureOf(this.#time, this.#random), load: new PartitionLoad() };
    const queue = new StormyQueues(nature);
    const model = new TableModel();
    const observer = new Observer(model, this.#time, () => this.tenants);
    const history = new History(model, this.#time, observer);
    const networks = new NetworkModel(nature);
    networks.onComment = (text) => void history.noteComment(text);
    this.world = { nature, queue, model, history, observer, networks };
    this.hosts = new Hosts(this.world, mutant, log);
    this.customers = new Customers(this.world, this.hosts, () => this.tenants);
  }

  async run(): Promise<readonly string[]> {
    return await inVirtualTime(this.#time, this.#random, () => this.#run());
  }

  async #run(): Promise<readonly string[]> {
    await this.#setUp();
    await this.#begin();
    const isStandstill = this.#seed % STANDSTILL_EVERY === 0;
    const troubleUntil = this.#time.now + (isStandstill ? STANDSTILL_MS : TROUBLE_MS);
    await this.#time.pass(troubleUntil, () => this.#isCaught());
    this.calm();
    await this.rest(this.#bystanders === undefined ? REST_MS_MAX : REST_AMONG_MANY_MS_MAX);
    if (this.#isCaught()) return this.#seen;
    const forgotten = this.#bystanders === undefined ? [] : await this.world.observer.openWork();
    this.#bystanders?.stop();
    await redriveAll(this);
    await this.rest();
    const violations = await violationsOf(this);
    const isOld = this.#seed % MONTHS_EVERY === 2;
    return [
      ...violations,
      ...forgotten.map((work) => `in the midst of many ${work}`),
      ...(isOld ? await monthsLater(this) : []),
      ...(await reconcileAll(this)),
    ];
  }

  /** What was seen to be wrong while the run went on. */
  get #seen(): readonly string[] {
    return [...this.world.history.violations, ...this.hosts.defects];
  }

  /** A mutant's run ends with the first thing that is wrong, for hours may be left of it. */
  #isCaught(): boolean {
    const { world, hosts } = this;
    const isSeen = world.history.violations.length > 0 || hosts.defects.length > 0;
    return isSeen && this.#mutant !== THE_PRODUCT;
  }

  async #setUp(): Promise<void> {
    const { nature } = this.world;
    // Every other run goes without the search.
    this.hosts.isSearched = this.#seed % 2 === 0 && this.#seed % PLATFORMS_EVERY !== 0;
    nature.isEmptyFirst = this.#seed % EMPTY_EVERY === 0;
    nature.rates = CALM;
    const first = this.hosts.start();
    const tokens = () => this.#random.pick([15, 60, 150, 300]);
    await this.#during(async () => {
      this.tenants = await createTenants(first.services, tokens);
      // The walks of the day are over, or else they come in the midst of it all.
      if (!this.hosts.isSearched) await this.hosts.runTimer();
    });
    this.hosts.platformIds = [...new Set(this.tenants.map(({ scope }) => scope.platformId))];
    const processes = this.#random.pick(PROCESSES);
    for (let count = 1; count < processes; count += 1) this.hosts.start();
    this.hosts.startTimers();
  }

  /** Lets time pass until it is done; what waits for a module is done in real time. */
  async #during(work: () => Promise<void>): Promise<void> {
    const state = { isOver: false };
    const ended = work().finally(() => (state.isOver = true));
    // Who waits for it hears about it.
    ended.catch(() => undefined);
    const until = this.#time.now + SET_UP_MS_MAX;
    while (!state.isOver && this.#time.now < until)
      await this.#time.pass(this.#time.now + SET_UP_STEP_MS, () => state.isOver);
    await ended;
  }

  /** Trouble begins, and everybody wants something. */
  async #begin(): Promise<void> {
    const { nature } = this.world;
    if (this.#seed % PLATFORMS_EVERY === 0) return await this.#beginAmongMany();
    if (this.#seed % FLOOD_EVERY === FLOOD_EVERY / 2) return this.customers.startFlood();
    const isStandstill = this.#seed % STANDSTILL_EVERY === 0;
    if (!this.isQuiet) {
      nature.rates = ratesOf(this.#random, this.hosts.isSearched);
      if (isStandstill) nature.rates = { ...nature.rates, ...BAD_POST };
      this.hosts.excite();
      this.#failReceivers();
      this.#startStorms();
    }
    this.customers.followsUp =
      this.#mutant.followsUp ?? this.#seed % FOLLOW_UPS_EVERY === FOLLOW_UPS_AT;
    this.customers.start();
    if (this.#seed % ERASURE_EVERY === 2) this.customers.startErasure();
    if (this.#random.chance(0.2)) this.customers.startForeign();
    if (this.isQuiet || this.#random.chance(0.1)) this.customers.startMisfit();
    const belated = isStandstill ? BELATED : 0;
    for (let index = 0; index < belated; index += 1)
      this.customers.startBelated(`belated-key-${index}`);
  }

  async #beginAmongMany(): Promise<void> {
    this.world.nature.rates = { ...CALM, ...BAD_POST };
    this.#bystanders = new Bystanders(this.world);
    await this.#bystanders.start();
    this.customers.start();
  }

  /** Of so many runs one has no trouble at all: everything is done at once, and nobody is sent away. */
  get isQuiet(): boolean {
    return this.#seed % QUIET_EVERY === 7;
  }

  calm(): void {
    this.world.nature.rates = CALM;
    this.hosts.calm();
  }

  /** Lets time pass until nothing is left to do, or for some hours. */
  async rest(msMax = REST_MS_MAX): Promise<void> {
    const until = this.#time.now + msMax;
    while (!(await this.#isAtRest()) && !this.#isCaught() && this.#time.now < until)
      await this.#time.pass(this.#time.now + CHECK_MS);
  }

  /** By the seed alone: runs of other seeds stay what they are. */
  #failReceivers(): void {
    if (this.#seed % OUTAGE_EVERY !== 0) return;
    const isLong = this.#seed % LONG_OUTAGE_EVERY === 4;
    const minutes = isLong ? LONG_OUTAGE_MINUTES : (this.#seed / OUTAGE_EVERY) % OUTAGE_MINUTES_MAX;
    this.world.networks.receiversDownUntil = this.#time.now + TROUBLE_MS + minutes * 60_000;
    this.world.nature.counts.receiverOutages += 1;
  }

  #startStorms(): void {
    if (this.#seed % STORM_EVERY !== 0) return;
    const { nature } = this.world;
    const change = (rates: Partial<Rates>) => {
      if (nature.rates !== CALM) nature.rates = { ...nature.rates, ...rates };
    };
    const { write, writeFaults } = nature.rates;
    for (let index = 0; index < STORMS; index += 1) {
      const at = this.#random.below(ASKED_WITHIN_MS);
      this.#time.set(() => change(STORM), at);
      this.#time.set(() => change({ write, writeFaults }), at + STORM_MS);
      this.customers.startCrowd(index, at);
    }
  }

  async #isAtRest(): Promise<boolean> {
    const { observer, queue } = this.world;
    if (this.customers.active > 0 || queue.pending > 0) return false;
    return (await observer.openWork()).length === 0;
  }
}

/** Runs a seed; the same seed gives the same run. */
export async function simulate(
  seed: number,
  mutant: Mutant = THE_PRODUCT,
  log: Log = SILENT,
): Promise<Outcome> {
  const restoreComments = withComments();
  const restore = mutant.install?.();
  try {
    const simulation = new Simulation(seed, mutant, log);
    const violations = await simulation.run();
    return { seed, counts: simulation.world.nature.counts, violations };
  } finally {
    restore?.();
    restoreComments();
  }
}
