import { absentIs, integer, rowCodec, textOrNull } from "../../runtime/storage/codec.ts";
import type { Columns, Row } from "../../runtime/storage/row.ts";
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

/** A time that is absent until there was one. */
const time = () => absentIs(null, textOrNull());

export const endpointHealthRow = rowCodec("endpoint health", {
  lastSuccessAt: time(),
  lastFailureAt: time(),
  failures: integer(),
  failingSince: textOrNull(),
  openedAt: time(),
  probeAt: time(),
  wakeAt: time(),
  // Where what waits begins, until all of it was sent: over more than one opening.
  waitingSince: time(),
});
type Stored = ReturnType<typeof endpointHealthRow.decode>;

function circuitOf({ openedAt, probeAt, wakeAt }: Stored): Circuit | null {
  if (openedAt === null || probeAt === null || wakeAt === null) return null;
  return { openedAt, probeAt, wakeAt };
}

function toHealth(row: Row): EndpointHealth {
  const stored = endpointHealthRow.decode(row);
  const { lastSuccessAt, lastFailureAt, failures, failingSince } = stored;
  return { lastSuccessAt, lastFailureAt, failures, failingSince, circuit: circuitOf(stored) };
}

const NO_FAILURES = endpointHealthRow.encodePart({
  failures: 0,
  failingSince: null,
  openedAt: null,
  probeAt: null,
  wakeAt: null,
});

function withFailure(before: Stored, now: Date): Columns {
  const at = now.toISOString();
  const failures = before.failures + 1;
  const circuit = circuitAfterFailure(circuitOf(before), failures, now);
  return endpointHealthRow.encodePart({
    lastFailureAt: at,
    failures,
    failingSince: before.failingSince ?? at,
    ...(circuit === null ? {} : { ...circuit, waitingSince: before.waitingSince ?? at }),
  });
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
      ...endpointHealthRow.encodePart({ lastSuccessAt }),
      ...NO_FAILURES,
      rowKey: ROW_KEY,
    });
    if (this.#succeededAt.size >= REMEMBERED_MAX) this.#succeededAt.clear();
    this.#succeededAt.set(endpointId, now.getTime());
  }

  /** Answers how it stands with this failure. */
  async noteFailure(endpointId: string, now: Date): Promise<EndpointHealth> {
    this.#succeededAt.delete(endpointId);
    const at = now.toISOString();
    const { row } = await this.#table.change(endpointId, ROW_KEY, (stored) => {
      if (stored !== undefined)
        return { kind: "merge", columns: withFailure(endpointHealthRow.decode(stored.row), now) };
      const first = { lastFailureAt: at, failures: 1, failingSince: at };
      return { kind: "write", columns: endpointHealthRow.encodePart(first) };
    });
    return row === undefined ? HEALTHY : toHealth(row);
  }

  /** What a delivery that nobody tried yet may do; of those that ask at once one alone is the probe. */
  async pass(endpointId: string, waiting: Waiting, now: Date): Promise<Passage> {
    let decided: Passage = { kind: "pass" };
    await this.#table.update(endpointId, ROW_KEY, (row) => {
      const before = circuitOf(endpointHealthRow.decode(row));
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
    if (stored === undefined) return null;
    const health = endpointHealthRow.decode(stored.row);
    return circuitOf(health) === null ? health.waitingSince : null;
  }

  /** All that waited was sent; what waits by a circuit that opened again is not forgotten. */
  async noteReleased(endpointId: string): Promise<void> {
    await this.#table.update(endpointId, ROW_KEY, (row) =>
      toHealth(row).circuit === null
        ? endpointHealthRow.encodePart({ waitingSince: null })
        : undefined,
    );
  }

  /** An endpoint that is made active again, or moves to another address, starts without a past. */
  async forgetFailures(endpointId: string): Promise<void> {
    await this.#table.putProperties(endpointId, { ...NO_FAILURES, rowKey: ROW_KEY });
  }
}
