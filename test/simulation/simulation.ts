import type { Log } from "../../src/shared/runtime/log.ts";
import { ASKED_WITHIN_MS, Customers } from "./customers.ts";
import { History } from "./history.ts";
import { Hosts, type World } from "./hosts.ts";
import { natureOf } from "../model/machine.ts";
import { THE_PRODUCT, type Mutant } from "./mutant.ts";
import { NetworkModel } from "./network-model.ts";
import { StormyQueues } from "../model/stormy-queues.ts";
import { Random } from "../model/random.ts";
import { openWork, violationsOf } from "./rules.ts";
import { TableModel } from "../model/table-model.ts";
import { createTenants, type Tenant } from "./tenants.ts";
import { inVirtualTime, VirtualTime } from "../model/virtual-time.ts";
import {
  BAD_POST,
  FAIR,
  ratesOf,
  STANDSTILL_EVERY,
  STORM,
  STORM_EVERY,
  type Counts,
  type Rates,
} from "../model/weather.ts";

/** The first run's; every run has hours of its own, so that a seed's ids are the same whenever it is run. */
const EPOCH = Date.parse("2026-03-04T10:00:00.000Z");
const RUN_MS = 4 * 60 * 60_000;
export const SEEDS_OF_ERA = 20_000;

const PROCESSES = 3;
const TROUBLE_MS = 200_000;
/** Of so many runs one has receivers that fail all the time, and for some minutes after the rest is calm. */
const OUTAGE_EVERY = 4;
const OUTAGE_MINUTES_MAX = 15;
const STORM_MS = 12_000;
const STORMS = 3;
const STANDSTILL_MS = 450_000;
const BELATED = 5;
const CHECK_MS = 30_000;
/** Everything has to end within this time after the trouble did. */
const REST_MS_MAX = 3 * 60 * 60_000;

export interface Outcome {
  readonly seed: number;
  readonly counts: Counts;
  readonly violations: readonly string[];
}

const SILENT: Log = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
  with: () => SILENT,
};

/** One seeded run: customers, processes, networks and a weather that breaks what can break; then calm, and the rules. */
export class Simulation {
  readonly world: World;
  readonly customers: Customers;
  readonly hosts: Hosts;
  tenants: readonly Tenant[] = [];
  readonly #seed: number;
  readonly #random: Random;
  readonly #time: VirtualTime;

  constructor(seed: number, mutant: Mutant, log: Log) {
    this.#seed = seed;
    this.#random = new Random(seed * 7_919 + mutant.era);
    this.#time = new VirtualTime(EPOCH + (mutant.era * (SEEDS_OF_ERA + 1) + seed) * RUN_MS);
    const nature = natureOf(this.#time, this.#random);
    const queue = new StormyQueues(nature);
    const model = new TableModel();
    const history = new History(model, this.#time);
    this.world = { nature, queue, model, history, networks: new NetworkModel(nature) };
    this.hosts = new Hosts(this.world, mutant, log);
    this.customers = new Customers(this.world, this.hosts, () => this.tenants);
  }

  async run(): Promise<readonly string[]> {
    return await inVirtualTime(this.#time, this.#random, () => this.#run());
  }

  async #run(): Promise<readonly string[]> {
    const { nature } = this.world;
    this.#skipThePast();
    const first = this.hosts.start();
    const setUp = createTenants(first.services, () => this.#random.pick([15, 60, 150, 300]));
    let isReady = false;
    void setUp.then(() => (isReady = true));
    await this.#time.pass(this.#time.now + CHECK_MS, () => isReady);
    this.tenants = await setUp;
    for (let count = 1; count < PROCESSES; count += 1) this.hosts.start();
    // Every other run goes without the search, which would hide for an hour what the sweeper has to find by itself.
    const isSearched = this.#seed % 2 === 0;
    this.hosts.startTimers(isSearched);
    nature.rates = ratesOf(this.#random, isSearched);
    const isStandstill = this.#seed % STANDSTILL_EVERY === 0;
    if (isStandstill) nature.rates = { ...nature.rates, ...BAD_POST };
    this.hosts.excite();
    this.#failReceivers();
    this.#startStorms();
    this.customers.start();
    const belated = isStandstill ? BELATED : 0;
    for (let index = 0; index < belated; index += 1)
      this.customers.startBelated(`belated-key-${index}`);
    await this.#time.pass(this.#time.now + (isStandstill ? STANDSTILL_MS : TROUBLE_MS));
    nature.rates = FAIR;
    this.hosts.calm();
    const until = this.#time.now + REST_MS_MAX;
    while (!this.#isAtRest() && this.#time.now < until)
      await this.#time.pass(this.#time.now + CHECK_MS);
    return violationsOf(this);
  }

  /** By the seed alone: runs of other seeds stay what they are. */
  #failReceivers(): void {
    if (this.#seed % OUTAGE_EVERY !== 0) return;
    const minutes = (this.#seed / OUTAGE_EVERY) % OUTAGE_MINUTES_MAX;
    this.world.networks.receiversDownUntil = this.#time.now + TROUBLE_MS + minutes * 60_000;
    this.world.nature.counts.receiverOutages += 1;
  }

  #startStorms(): void {
    if (this.#seed % STORM_EVERY !== 0) return;
    const { nature } = this.world;
    const change = (rates: Partial<Rates>) => {
      if (nature.rates !== FAIR) nature.rates = { ...nature.rates, ...rates };
    };
    const { write, writeFaults } = nature.rates;
    for (let index = 0; index < STORMS; index += 1) {
      const at = this.#random.below(ASKED_WITHIN_MS);
      this.#time.set(() => change(STORM), at);
      this.#time.set(() => change({ write, writeFaults }), at + STORM_MS);
      this.customers.startCrowd(index, at);
    }
  }

  /** As if the timers had run before: the first run of all would look through an empty hour. */
  #skipThePast(): void {
    const minute = new Date(this.#time.now - (this.#time.now % 60_000)).toISOString();
    for (const [table, rowKey] of [
      ["due", "due"],
      ["duedeliveries", "due"],
      ["dirty", "sweep"],
    ] as const) {
      this.world.model.createTable(table);
      this.world.model.transact(table, "watermark", [
        { kind: "put", rowKey, properties: { minute } },
      ]);
    }
  }

  #isAtRest(): boolean {
    const { model, queue } = this.world;
    return this.customers.active === 0 && queue.pending === 0 && openWork(model).length === 0;
  }
}

/** Runs a seed; the same seed gives the same run. */
export async function simulate(
  seed: number,
  mutant: Mutant = THE_PRODUCT,
  log: Log = SILENT,
): Promise<Outcome> {
  const restore = mutant.install?.();
  try {
    const simulation = new Simulation(seed, mutant, log);
    const violations = await simulation.run();
    return { seed, counts: simulation.world.nature.counts, violations };
  } finally {
    restore?.();
  }
}
