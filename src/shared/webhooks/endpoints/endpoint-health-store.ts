import { numberOf, textOf, textOrNull, type Columns, type Row } from "../../runtime/storage/row.ts";
import type { Table } from "../../runtime/storage/table.ts";
import {
  circuitAfterFailure,
  passage,
  type Circuit,
  type Passage,
  type Waiting,
} from "./circuit.ts";
import { HEALTHY, type EndpointHealth } from "./endpoint.ts";

const ROW_KEY = "S";
/** A busy endpoint's successes are noted this often, so that its one row does not become what limits it. */
const SUCCESS_NOTED_MS = 10_000;
const REMEMBERED_MAX = 10_000;

function toCircuit(row: Row): Circuit | null {
  const openedAt = textOrNull(row, "openedAt");
  if (openedAt === null) return null;
  return { openedAt, probeAt: textOf(row, "probeAt"), wakeAt: textOf(row, "wakeAt") };
}

function toHealth(row: Row): EndpointHealth {
  return {
    lastSuccessAt: textOrNull(row, "lastSuccessAt"),
    lastFailureAt: textOrNull(row, "lastFailureAt"),
    failures: numberOf(row, "failures"),
    failingSince: textOrNull(row, "failingSince"),
    circuit: toCircuit(row),
  };
}

const NO_FAILURES = { failures: 0, failingSince: "", openedAt: "", probeAt: "", wakeAt: "" };

function withFailure(before: Row, now: Date): Columns {
  const at = now.toISOString();
  const failures = numberOf(before, "failures") + 1;
  const circuit = circuitAfterFailure(toCircuit(before), failures, now);
  return {
    lastFailureAt: at,
    failures,
    failingSince: textOrNull(before, "failingSince") ?? at,
    ...circuit,
    // Where what waits begins, until all of it was sent: over more than one opening.
    ...(circuit === null ? {} : { waitingSince: textOrNull(before, "waitingSince") ?? at }),
  };
}

/** How the deliveries of an endpoint went (table `deliveries`, one row beside them). */
export class EndpointHealthStore {
  readonly #table: Table;
  /** When this process noted an endpoint's last success; none after a failure. */
  readonly #succeededAt = new Map<string, number>();

  constructor(table: Table) {
    this.#table = table;
  }

  async find(endpointId: string): Promise<EndpointHealth> {
    const stored = await this.#table.find(endpointId, ROW_KEY);
    return stored === undefined ? HEALTHY : toHealth(stored.row);
  }

  /** Ends a row of failures, and closes the circuit. `lastSuccessAt` is right to ten seconds. */
  async noteSuccess(endpointId: string, now: Date, isFailing = false): Promise<void> {
    const noted = this.#succeededAt.get(endpointId);
    const isFresh = noted !== undefined && now.getTime() - noted < SUCCESS_NOTED_MS;
    // Of an endpoint that fails the one success counts, whatever this process noted before others noted failures.
    if (isFresh && !isFailing) return;
    const lastSuccessAt = now.toISOString();
    await this.#table.putProperties(endpointId, {
      rowKey: ROW_KEY,
      lastSuccessAt,
      ...NO_FAILURES,
    });
    if (this.#succeededAt.size >= REMEMBERED_MAX) this.#succeededAt.clear();
    this.#succeededAt.set(endpointId, now.getTime());
  }

  /** Answers how it stands with this failure. */
  async noteFailure(endpointId: string, now: Date): Promise<EndpointHealth> {
    this.#succeededAt.delete(endpointId);
    const at = now.toISOString();
    const { row } = await this.#table.change(endpointId, ROW_KEY, (stored) => {
      if (stored === undefined)
        return { kind: "write", columns: { lastFailureAt: at, failures: 1, failingSince: at } };
      return { kind: "merge", columns: withFailure(stored.row, now) };
    });
    return row === undefined ? HEALTHY : toHealth(row);
  }

  /** What a delivery that nobody tried yet may do; of those that ask at once one alone is the probe. */
  async pass(endpointId: string, waiting: Waiting, now: Date): Promise<Passage> {
    let decided: Passage = { kind: "pass" };
    await this.#table.update(endpointId, ROW_KEY, (row) => {
      const before = toCircuit(row);
      decided = passage(before, waiting, now);
      if (decided.kind === "pass") return undefined;
      const { probeAt, wakeAt } = decided.circuit;
      const isSame = probeAt === before?.probeAt && wakeAt === before.wakeAt;
      return isSame ? undefined : { probeAt, wakeAt };
    });
    return decided;
  }

  /** Since when deliveries may wait that a circuit held back; null while it is open, or when none of them is left. */
  async releasableSince(endpointId: string): Promise<string | null> {
    const stored = await this.#table.find(endpointId, ROW_KEY);
    if (stored === undefined || toCircuit(stored.row) !== null) return null;
    return textOrNull(stored.row, "waitingSince");
  }

  /** All that waited was sent; what waits by a circuit that opened again is not forgotten. */
  async noteReleased(endpointId: string): Promise<void> {
    await this.#table.update(endpointId, ROW_KEY, (row) =>
      toCircuit(row) === null ? { waitingSince: "" } : undefined,
    );
  }

  /** An endpoint that is made active again, or moves to another address, starts without a past. */
  async forgetFailures(endpointId: string): Promise<void> {
    await this.#table.putProperties(endpointId, { rowKey: ROW_KEY, ...NO_FAILURES });
  }
}
