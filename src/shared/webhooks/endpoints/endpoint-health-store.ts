import { FREE, LEASE_COLUMNS } from "../../runtime/lease.ts";
import { integer, rowCodec, textOrNull } from "../../runtime/storage/codec.ts";
import type { Row } from "../../runtime/storage/row.ts";
import type { Table } from "../../runtime/storage/table.ts";

const FAILURES_TO_OPEN = 5;
const PAUSE_MS_MIN = 30_000;
/** Five minutes, less the time that a probe takes to fail. */
const PAUSE_MS_MAX = 280_000;

/** The state of an endpoint that keeps failing. New deliveries wait, and one at a time probes the endpoint. */
export interface Circuit {
  readonly openedAt: string;
  /** The time of the next probe. Every failure moves it. */
  readonly probeAt: string;
}

/** Returns the circuit after so many failures in a row, or null while it stays closed. The pause doubles each time. */
export function circuitAfterFailure(
  before: Circuit | null,
  failures: number,
  now: Date,
): Circuit | null {
  if (before === null && failures < FAILURES_TO_OPEN) return null;
  const openedAt = before?.openedAt ?? now.toISOString();
  const openMs = now.getTime() - Date.parse(openedAt);
  const pauseMs = Math.min(Math.max(openMs, PAUSE_MS_MIN), PAUSE_MS_MAX);
  return { openedAt, probeAt: new Date(now.getTime() + pauseMs).toISOString() };
}

/** The key of the row, next to the endpoint's deliveries. */
export const STATE_ROW = "S";

/** The state of an endpoint: the recent results of its deliveries, and the lease on delivering to it. */
export const endpointStateRow = rowCodec("endpoint state", {
  lastSuccessAt: textOrNull(),
  lastFailureAt: textOrNull(),
  failures: integer(),
  failingSince: textOrNull(),
  openedAt: textOrNull(),
  probeAt: textOrNull(),
  // The lease of the drain that delivers to the endpoint.
  ...LEASE_COLUMNS,
  // The time of the due row that starts the next drain.
  nextAt: textOrNull(),
});
export type EndpointState = ReturnType<typeof endpointStateRow.decode>;

/** The state of an endpoint that got no delivery yet. */
export const NEW_STATE: EndpointState = {
  lastSuccessAt: null,
  lastFailureAt: null,
  failures: 0,
  failingSince: null,
  openedAt: null,
  probeAt: null,
  ...FREE,
  nextAt: null,
};

/** The columns that a success clears. */
export const NO_FAILURES = {
  failures: 0,
  failingSince: null,
  openedAt: null,
  probeAt: null,
} as const;

/** Returns the endpoint's circuit, or null while it is closed. */
export function circuitOf({ openedAt, probeAt }: EndpointState): Circuit | null {
  return openedAt === null || probeAt === null ? null : { openedAt, probeAt };
}

/** Returns the fields of the state that a failure changes. */
export function withFailure(before: EndpointState, now: Date): Partial<EndpointState> {
  const at = now.toISOString();
  const failures = before.failures + 1;
  const circuit = circuitAfterFailure(circuitOf(before), failures, now);
  const failingSince = before.failingSince ?? at;
  return { lastFailureAt: at, failures, failingSince, ...circuit };
}

export function toState(row: Row | undefined): EndpointState {
  return row === undefined ? NEW_STATE : endpointStateRow.decode(row);
}

/** Stores the recent results of an endpoint's deliveries (table `deliveries`, one row next to them). */
export class EndpointHealthStore {
  readonly #table: Table;

  constructor(table: Table) {
    this.#table = table;
  }

  async findCircuit(endpointId: string): Promise<Circuit | null> {
    return circuitOf(toState((await this.#table.find(endpointId, STATE_ROW))?.row));
  }

  /** Clears the failures of an endpoint that is activated again or has a new address. */
  async forgetFailures(endpointId: string): Promise<void> {
    const columns = endpointStateRow.encodePart(NO_FAILURES);
    await this.#table.update(endpointId, STATE_ROW, () => columns);
  }
}
