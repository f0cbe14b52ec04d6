import { setTimeout as delay } from "node:timers/promises";
import { parseConfig } from "../src/shared/config/config.ts";
import { buildServices, type Services } from "../src/shared/compose.ts";
import { Machine, natureOf } from "../test/model/machine.ts";
import { tablesOver } from "../test/model/model-client.ts";
import { PartitionLoad } from "../test/model/partition-load.ts";
import { Random } from "../test/model/random.ts";
import { TableModel } from "../test/model/table-model.ts";
import { VirtualTime } from "../test/model/virtual-time.ts";
import { settingsOf } from "./relay.ts";

/** What a request to storage takes within a region, there and back. */
export const STORAGE_MS = 6;

/** The machine's own time, where the model asks what time it is. */
class PresentTime extends VirtualTime {
  constructor() {
    super(0);
  }

  override get now(): number {
    return performance.now();
  }
}

/** A process whose requests to storage take their time and cost it next to nothing. */
class MachineInRegion extends Machine {
  requests = 0;

  constructor() {
    const fair = natureOf(new PresentTime(), new Random(1));
    super("bench", { ...fair, load: new PartitionLoad(), isEmptyFirst: true });
  }

  override async call<T>(reach: () => T): Promise<T> {
    this.requests += 1;
    await delay(STORAGE_MS);
    return reach();
  }
}

/** The product in this process, on storage of a region. */
export interface RelayInRegion {
  readonly services: Services;
  /** Requests to storage so far. */
  requests(): number;
  /** Makes so many requests to storage, one after the other. */
  bareRequests(count: number): Promise<void>;
}

/**
 * Builds the product on the tables that the simulation runs on, which the contract suite holds against the emulator. No
 * emulator takes the cores. What clients and their HTTP cost is left out, and no worker runs.
 */
export function startRelayInRegion(): RelayInRegion {
  const machine = new MachineInRegion();
  const nowhere = "UseDevelopmentStorage=true";
  const storage = { tables: nowhere, queues: nowhere, stop: () => Promise.resolve() };
  const services = buildServices(parseConfig(settingsOf(storage, "")), {
    tables: tablesOver(new TableModel(), machine),
    queue: () => ({ send: () => machine.call(() => undefined), ping: () => Promise.resolve() }),
  });
  return {
    services,
    requests: () => machine.requests,
    async bareRequests(count) {
      for (let index = 0; index < count; index += 1) await machine.call(() => undefined);
    },
  };
}
