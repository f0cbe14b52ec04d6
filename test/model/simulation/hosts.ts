// Here, so that no run waits for it, whose time would go on meanwhile.
import "../../../src/functions/background-verbs.ts";
import { timers } from "../../../src/functions/timers.ts";
import { workers } from "../../../src/functions/workers.ts";
import { parseConfig } from "../../../src/shared/config/config.ts";
import { AppError } from "../../../src/shared/runtime/errors.ts";
import type { Log, LogFields } from "../../../src/shared/runtime/log.ts";
import { checkWallet } from "../../../src/shared/ledger/reconcile-wallet.ts";
import { buildServices, type Services } from "../../../src/shared/compose.ts";
import { systemScope } from "../../../src/shared/host/worker.ts";
import type { History } from "./history.ts";
import { Machine, type Nature } from "../machine.ts";
import { tablesOver } from "../model-client.ts";
import type { Mutant } from "./mutant.ts";
import type { NetworkModel } from "./network-model.ts";
import { NO_ANSWER, type Message } from "../queue-model.ts";
import type { StormyQueues } from "../stormy-queues.ts";
import type { Observer } from "./observer.ts";
import { LAST_CALLS_MAX } from "./requests.ts";
import type { TableModel } from "../table-model.ts";

/** Short schedules: what is under test is their order, not their length. */
const settings = {
  AZURE_FUNCTIONS_ENVIRONMENT: "Development",
  AzureWebJobsStorage: "UseDevelopmentStorage=true",
  BCRYPT_COST: "4",
  LEG_RETRY_SECONDS: "5,20,60,120",
  WEBHOOK_RETRY_SECONDS: "5,15,30,60,120,120,240,240,480",
};
const searching = parseConfig(settings);
/** The hourly search would hide for an hour what the sweeper has to find by itself. */
const unsearching = { ...searching, walks: { ...searching.walks, hourMs: 24 * 60 * 60_000 } };

const MINUTE_MS = 60_000;
const CHECK_MS = 25_000;
/** Clocks are up to five seconds apart. */
const SKEW_MS_MAX = 2_500;
const RESTART_MS_MAX = 15_000;
const LIVES_MAX = [40, 150, 400] as const;
const CRASHING = 0.7;

/** A running process. */
export interface Host {
  readonly machine: Machine;
  readonly services: Services;
}

export interface World {
  readonly nature: Nature;
  readonly model: TableModel;
  readonly history: History;
  readonly observer: Observer;
  readonly queue: StormyQueues;
  readonly networks: NetworkModel;
}

/** A message of a build that is not this one, which no worker of this one can read. */
export const foreignMessage = (name: string) => ({ v: 99, name });

const isForeign = (message: object) => "v" in message && message.v === 99;
const isForeignHint = (hint: unknown) => typeof hint === "string" && hint.includes('"v":99');

/** What storage or queues that do not answer look like; anything else that is thrown is a defect. */
function isOutage(error: unknown): boolean {
  if (error instanceof AggregateError) return error.errors.every(isOutage);
  if (error instanceof AppError) return error.code === "service_unavailable";
  return error instanceof Error && (error.message === NO_ANSWER || error.name === "AbortError");
}

/** What the log says that people must hear about. */
interface Told {
  readonly message: string;
  readonly fields: LogFields;
}

/** The processes of a deployment: they die, are replaced, take messages and run the timers. */
export class Hosts {
  readonly #world: World;
  readonly #mutant: Mutant;
  readonly #living: Host[] = [];
  readonly #defects: string[] = [];
  readonly #log: Log;
  /** The error lines of all processes. */
  readonly told: Told[] = [];
  /** Whose wallets are checked all the time. */
  platformIds: readonly string[] = [];
  /** Whether the hourly walks come. */
  isSearched = true;
  /** Told about every message that some process is about to handle. */
  onMessage: (message: Message) => void = () => undefined;
  #started = 0;
  #isCalm = true;

  constructor(world: World, mutant: Mutant, log: Log) {
    this.#world = world;
    this.#mutant = mutant;
    this.#log = log;
    world.queue.deliver = (message) => {
      this.onMessage(message);
      void this.#handle(message);
    };
  }

  /** Errors that no outage explains. */
  get defects(): readonly string[] {
    return this.#defects;
  }

  note(what: string, error: unknown): void {
    if (isOutage(error)) return;
    const errors: readonly unknown[] = error instanceof AggregateError ? error.errors : [error];
    for (const one of errors)
      if (!isOutage(one))
        this.#defects.push(`${what}: ${one instanceof Error ? one.stack : String(one)}`);
  }

  start(): Host {
    const { nature, model, queue, networks } = this.#world;
    const { random, time } = nature;
    this.#started += 1;
    const machine = new Machine(`process ${this.#started}`, nature);
    const skewMs = random.between(-SKEW_MS_MAX, SKEW_MS_MAX);
    const services = buildServices(this.isSearched ? searching : unsearching, {
      tables: tablesOver(model, machine),
      queue: (name) => queue.openFor(machine, name),
      poisonQueue: (name) => queue.openPoisonFor(machine, name),
      outbound: networks.open(machine),
      clock: { now: () => new Date(time.now + skewMs) },
      log: this.#watched(),
    });
    if (!this.#isCalm) this.#doom(machine);
    this.#mutant.services?.(services);
    const host = { machine, services };
    this.#living.push(host);
    void this.#replace(host);
    return host;
  }

  /** Walks and searches pass over what fails, and tell the log alone. */
  #watched(): Log {
    return {
      ...this.#log,
      error: (message, fields = {}) => {
        this.told.push({ message, fields });
        if (message === "poison message") this.#world.nature.counts.poisoned += 1;
        if (fields["error"] !== undefined && !isForeignHint(fields["hint"]))
          this.note(message, fields["error"]);
        this.#log.error(message, fields);
      },
    };
  }

  async #replace(host: Host): Promise<void> {
    const { random, time } = this.#world.nature;
    await host.machine.died;
    this.#living.splice(this.#living.indexOf(host), 1);
    time.set(() => void this.start(), random.below(RESTART_MS_MAX));
  }

  /** Trouble begins: some of the living are going to die. */
  excite(): void {
    this.#isCalm = false;
    for (const { machine } of this.#living) this.#doom(machine);
  }

  #doom(machine: Machine): void {
    const { random } = this.#world.nature;
    if (random.chance(CRASHING)) machine.doom(random.between(1, random.pick(LIVES_MAX)));
  }

  calm(): void {
    this.#isCalm = true;
    for (const { machine } of this.#living) machine.crashAt = Infinity;
  }

  /** Some living process; waits for one when there is none. */
  async any(): Promise<Host> {
    const { random, time } = this.#world.nature;
    while (this.#living.length === 0) await time.wait(200);
    return random.pick(this.#living);
  }

  async #handle(message: Message): Promise<void> {
    const { queue, nature } = this.#world;
    const { machine, services } = await this.any();
    if (nature.random.chance(nature.rates.doom))
      machine.doom(nature.random.between(1, LAST_CALLS_MAX));
    const worker = workers.find(({ queue: name }) => name === message.queue);
    const work = async () => {
      try {
        const host = { dequeueCount: message.deliveries + 1, write: () => undefined };
        await worker?.handle(services, message.message, host);
        return "done" as const;
      } catch (error) {
        if (!isForeign(message.message)) this.note(message.queue, error);
        return "failed" as const;
      }
    };
    switch (await Promise.race([machine.died, work()])) {
      case "done":
        return queue.done(message);
      case "failed":
        return queue.failed(message);
      case "died":
        return queue.abandoned(message);
    }
  }

  /** What the host's timer does when it comes. */
  async runTimer(): Promise<void> {
    const { services } = await this.any();
    for (const timer of timers)
      try {
        await timer.run(services, systemScope(services, timer.name));
      } catch (error) {
        this.note(timer.name, error);
      }
  }

  /** In the middle of all that goes on there is never anything to report, and where no call fails nothing is left out. */
  async #check(): Promise<void> {
    const { services } = await this.any();
    for (const id of this.platformIds) {
      const { time } = this.#world.nature;
      const from = time.now;
      const result = await checkWallet(services.ledger, id);
      // A process that pauses for minutes gives up.
      if (result.kind === "moving" && time.now - from < CHECK_MS)
        this.#defects.push(`the wallet of ${id} moved too much`);
      if (result.kind === "mismatch") this.#defects.push(`reconciled: ${result.mismatches.join()}`);
    }
  }

  /** Every minute, on some process; now and then not at all, or on two. */
  startTimers(): void {
    const { random, time } = this.#world.nature;
    const check = async () => {
      try {
        await this.#check();
      } catch (error) {
        this.note("check", error);
      }
    };
    const tick = () => {
      for (const run of [() => this.runTimer(), check]) {
        const times = this.#isCalm ? 1 : random.pick([0, 1, 1, 1, 1, 1, 1, 2]);
        for (let count = 0; count < times; count += 1) void run();
      }
    };
    time.set(tick, MINUTE_MS - (time.now % MINUTE_MS), MINUTE_MS);
  }
}
