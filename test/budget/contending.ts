import { parseConfig } from "../../src/shared/config/config.ts";
import type { Log } from "../../src/shared/runtime/log.ts";
import { buildServices, type Services } from "../../src/shared/compose.ts";
import { Machine, natureOf, type Nature } from "../model/machine.ts";
import { tablesOver } from "../model/model-client.ts";
import { PartitionLoad } from "../model/partition-load.ts";
import { Random } from "../model/random.ts";
import { TableModel } from "../model/table-model.ts";
import { inVirtualTime, VirtualTime } from "../model/virtual-time.ts";
import { acceptAsk, call, openTenant, settingsOf, type Tenant } from "../../bench/relay.ts";

/** A request to storage takes this long one way: there and back as within a region. */
const HOP_MS = [2, 4] as const;
const CALLERS = 64;
const WARM_UP_MS = 500;
/** What one core of storage takes for a read, for a write, and for each row of it. */
const [READ_MS, WRITE_MS, ROW_MS] = [1, 2, 0.25];
/** Beyond this, a call has no answer. */
const PATIENCE_MS = 60_000;
const silent = () => undefined;
const SILENT: Log = {
  debug: silent,
  info: silent,
  warn: silent,
  error: silent,
  with: () => SILENT,
};
const STORAGE = { tables: "UseDevelopmentStorage=true", queues: "UseDevelopmentStorage=true" };

/** Storage that does one thing after the other, as the emulator does: what one process sends delays all others. */
class OneCore {
  #busy: Promise<unknown> = Promise.resolve();
  /** How many rows the next request writes. */
  rows = 0;

  answer<T>(time: VirtualTime, reach: () => T): Promise<T> {
    const { rows } = this;
    this.rows = 0;
    const answered = this.#busy.then(async () => {
      let hasFailed = true;
      try {
        const answer = reach();
        hasFailed = false;
        return answer;
      } finally {
        await time.wait(rows === 0 ? READ_MS : WRITE_MS + (hasFailed ? 0 : rows * ROW_MS));
      }
    });
    this.#busy = answered.catch(() => undefined);
    return answered;
  }
}

/** A process whose requests take their time, once its tenants are open. */
class ContendingMachine extends Machine {
  isMeasured = false;
  requests = 0;
  /** Set where storage does one thing after the other. */
  core: OneCore | undefined;

  override async call<T>(reach: () => T): Promise<T> {
    if (!this.isMeasured) return reach();
    this.requests += 1;
    if (this.core !== undefined) return this.core.answer(this.nature.time, reach);
    const { time, random } = this.nature;
    await time.wait(random.between(...HOP_MS));
    const answer = (async () => reach())();
    answer.catch(() => undefined);
    await time.wait(random.between(...HOP_MS));
    return await answer;
  }
}

export interface Contention {
  readonly instances: number;
  /** Without the service's limit of a partition, what is measured is the writers' way with each other alone. */
  readonly isLimited: boolean;
  /** Whether storage has one core. The same callers are then spread over the instances. */
  readonly hasOneCore?: boolean;
  /** The share of calls that repeat the key of the call before. */
  readonly repeated?: number;
  readonly seconds: number;
}

export interface Contended {
  readonly answeredPerSecond: number;
  readonly requestsPerCall: number;
  /** How many calls were answered with each status. */
  readonly statuses: ReadonlyMap<number, number>;
}

interface Region {
  readonly time: VirtualTime;
  readonly random: Random;
  readonly machines: readonly ContendingMachine[];
  readonly relays: readonly Services[];
  readonly tenant: Tenant;
}

async function open({ instances, isLimited }: Contention): Promise<Region> {
  const time = new VirtualTime(Date.now());
  const random = new Random(instances);
  const fair = natureOf(time, random);
  const nature: Nature = isLimited ? { ...fair, load: new PartitionLoad() } : fair;
  const model = new TableModel();
  const machines = Array.from(
    { length: instances },
    (_, index) => new ContendingMachine(`instance ${index}`, nature),
  );
  const config = parseConfig(settingsOf({ ...STORAGE, stop: async () => undefined }, ""));
  const relays = machines.map((machine) =>
    buildServices(config, {
      tables: tablesOver(model, machine),
      log: SILENT,
      queue: () => ({ send: () => machine.call(() => undefined), ping: async () => undefined }),
    }),
  );
  const [first] = relays;
  if (first === undefined) throw new Error("contention needs an instance");
  return { time, random, machines, relays, tenant: await openTenant(first) };
}

interface Calling {
  readonly until: number;
  readonly repeated: number;
  readonly note: (status: number) => void;
}

async function callUntil(region: Region, relay: Services, calling: Calling): Promise<void> {
  const { time, random, tenant } = region;
  let ask = acceptAsk(tenant);
  while (time.now < calling.until) {
    if (!random.chance(calling.repeated)) ask = acceptAsk(tenant);
    calling.note((await call(relay, ask)).status);
  }
}

/**
 * Accepts posts of one platform by several instances at once, each with 64 callers that never rest, in a time that
 * passes only when nothing is left to do: the CPU costs nothing, and what is left is how the instances get along.
 */
export async function contend(contention: Contention): Promise<Contended> {
  const region = await open(contention);
  const { time, random, machines, relays } = region;
  const { repeated = 0, seconds } = contention;
  return await inVirtualTime(time, random, async () => {
    const statuses = new Map<number, number>();
    const from = time.now + WARM_UP_MS;
    const until = from + seconds * 1_000;
    let answered = 0;
    const note = (status: number) => {
      if (time.now < from) return;
      if (time.now < until) answered += 1;
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
    };
    const requests = () => machines.reduce((sum, machine) => sum + machine.requests, 0);
    const core = contention.hasOneCore === true ? new OneCore() : undefined;
    for (const machine of machines) {
      machine.isMeasured = true;
      machine.core = core;
      if (core !== undefined)
        machine.hold = ({ rowKeys }) => {
          core.rows = rowKeys.length;
          return undefined;
        };
    }
    let isOver = false;
    const calls = relays.flatMap((relay) =>
      Array.from({ length: core === undefined ? CALLERS : CALLERS / machines.length }, () =>
        callUntil(region, relay, { until, repeated, note }),
      ),
    );
    const all = Promise.all(calls).finally(() => (isOver = true));
    await time.pass(from);
    const before = requests();
    await time.pass(until);
    const requestsPerCall = (requests() - before) / answered;
    await time.pass(until + PATIENCE_MS, () => isOver);
    if (!isOver) throw new Error("calls were not answered");
    await all;
    return { answeredPerSecond: answered / seconds, requestsPerCall, statuses };
  });
}
