import { RecentMap } from "../../runtime/recent-map.ts";
import { absentIs, integer, rowCodec, textOrNull } from "../../runtime/storage/codec.ts";
import type { Columns, Row } from "../../runtime/storage/row.ts";
import type { Table } from "../../runtime/storage/table.ts";
import {
  circuitAfterFailure,
  admission,
  type Circuit,
  type Admission,
  type Waiting,
} from "./circuit.ts";
import { HEALTHY, type EndpointHealth } from "./endpoint.ts";

const ROW_KEY = "S";
/** How often a busy endpoint's successes are written: more often would make its one row a bottleneck. */
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
  // When the first delivery began to wait; kept over several openings until all that waited was sent.
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

/** The recent results of an endpoint's deliveries (table `deliveries`, one row beside them). */
export class EndpointHealthStore {
  readonly #table: Table;
  /** When this process last wrote an endpoint's success; none after a failure. */
  readonly #succeededAt = new RecentMap<number>(REMEMBERED_MAX);

  constructor(table: Table) {
    this.#table = table;
  }

  async find(endpointId: string): Promise<EndpointHealth> {
    const stored = await this.#table.find(endpointId, ROW_KEY);
    return stored === undefined ? HEALTHY : toHealth(stored.row);
  }

  /** Records a success: clears the failures and the circuit. `lastSuccessAt` is exact to ten seconds. */
  async noteSuccess(endpointId: string, now: Date, isFailing = false): Promise<void> {
    const noted = this.#succeededAt.get(endpointId);
    const isFresh = noted !== undefined && now.getTime() - noted < SUCCESS_NOTED_MS;
    // The success of a failing endpoint is always written: other processes may have written failures since.
    if (isFresh && !isFailing) return;
    const lastSuccessAt = now.toISOString();
    await this.#table.putProperties(endpointId, {
      ...endpointHealthRow.encodePart({ lastSuccessAt }),
      ...NO_FAILURES,
      rowKey: ROW_KEY,
    });
    this.#succeededAt.set(endpointId, now.getTime());
  }

  /** Records a failure. Returns the endpoint's health after it. */
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

  /** Decides whether a delivery without an attempt may be attempted; of several at once, one alone is the probe. */
  async admit(endpointId: string, waiting: Waiting, now: Date): Promise<Admission> {
    let decided: Admission = { kind: "pass" };
    await this.#table.update(endpointId, ROW_KEY, (row) => {
      const before = circuitOf(endpointHealthRow.decode(row));
      decided = admission(before, waiting, now);
      if (decided.kind === "pass") return undefined;
      const { probeAt, wakeAt } = decided.circuit;
      const isSame = probeAt === before?.probeAt && wakeAt === before.wakeAt;
      return isSame ? undefined : { probeAt, wakeAt };
    });
    return decided;
  }

  /** Returns since when deliveries wait that can be sent now; null while the circuit is open, or when none is left. */
  async releasableSince(endpointId: string): Promise<string | null> {
    const stored = await this.#table.find(endpointId, ROW_KEY);
    if (stored === undefined) return null;
    const health = endpointHealthRow.decode(stored.row);
    return circuitOf(health) === null ? health.waitingSince : null;
  }

  /** Records that all waiting deliveries were sent, unless the circuit opened again. */
  async noteReleased(endpointId: string): Promise<void> {
    await this.#table.update(endpointId, ROW_KEY, (row) =>
      toHealth(row).circuit === null
        ? endpointHealthRow.encodePart({ waitingSince: null })
        : undefined,
    );
  }

  /** Clears the failures of an endpoint that is made active again or has a new address. */
  async forgetFailures(endpointId: string): Promise<void> {
    await this.#table.putProperties(endpointId, { ...NO_FAILURES, rowKey: ROW_KEY });
  }
}
