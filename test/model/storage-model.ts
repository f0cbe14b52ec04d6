import type { Tables } from "../../src/shared/runtime/storage/tables.ts";
import { Machine, natureOf, type FatedCall, type Nature } from "./machine.ts";
import { tablesOver } from "./model-client.ts";
import { Random } from "./random.ts";
import { TableModel } from "./table-model.ts";
import { VirtualTime } from "./virtual-time.ts";
import { FAIR, type WriteFault } from "./weather.ts";

/** What becomes of one call, in the words of the fault proxy. */
export type TableFault =
  "pass" | "lose_request" | "lose_answer" | "late" | "false_412" | "unavailable";

export const WRITE_FAULTS_BY_NAME: Readonly<Record<TableFault, WriteFault | undefined>> = {
  pass: undefined,
  lose_request: "error_before",
  lose_answer: "error_after",
  late: "late",
  false_412: "false_conflict",
  unavailable: "unavailable",
};

/** What else a test may choose: the process ends with this call, which has not arrived or has. */
export type CallFate = TableFault | "dies_before" | "dies_after";

const never = <T>() => new Promise<T>(() => undefined);

/** How often a page is short or empty although there is more: often enough for each test of a list to meet it. */
const ODD_PAGES = 0.2;
/** What a call takes, as far as writes that land late are concerned: within forty calls. */
const CALL_MS = 500;
const LATE_MS_MAX = 20_000;

/** A process whose calls to storage take no time, and fail only where the test says so. */
export class CalmMachine extends Machine {
  override async call<T>(reach: () => T): Promise<T> {
    await Promise.resolve();
    const { counts, time } = this.nature;
    if (counts.lateWrites > 0) await time.pass(time.now + CALL_MS);
    if (this.isDead) return never();
    let answer: T;
    try {
      answer = reach();
    } catch (error) {
      if (this.isDead) return never();
      throw error;
    }
    return this.isDead ? never() : answer;
  }

  /** Chooses the fate of a call. One that ends the process is its last: it gets no answer from then on. */
  choose(fate: CallFate): WriteFault | undefined {
    if (fate !== "dies_before" && fate !== "dies_after") return WRITE_FAULTS_BY_NAME[fate];
    this.kill();
    return fate === "dies_before" ? "error_before" : undefined;
  }
}

/** The tables of one deployment, of this process: the model that is held against the emulator. */
export class StorageModel {
  readonly #model = new TableModel();
  readonly #nature: Nature;

  constructor() {
    this.#nature = natureOf(new VirtualTime(0), new Random(1));
    this.#nature.rates = { ...FAIR, page: ODD_PAGES };
  }

  /** The tables as one process reaches them. */
  open(
    choose?: (call: FatedCall) => CallFate,
    hold?: (call: FatedCall) => Promise<void> | undefined,
  ): Tables {
    const machine = new CalmMachine("test", this.#nature);
    machine.hold = hold;
    if (choose !== undefined) machine.fate = (call) => machine.choose(choose(call));
    return tablesOver(this.#model, machine);
  }

  /** Gives whole pages from now on, for tests that count calls. */
  giveWholePages(): void {
    this.#nature.rates = FAIR;
  }

  /** Lets every write land that is late. */
  async land(): Promise<void> {
    const { time } = this.#nature;
    await time.pass(time.now + LATE_MS_MAX);
  }

  /** Every row of every table, no matter who wrote it. */
  *rows(tables: readonly string[]) {
    for (const table of tables)
      for (const { partitionKey, rowKey, properties } of this.#model.rows(table))
        yield { table, partitionKey, rowKey, properties };
  }
}
