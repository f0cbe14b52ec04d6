import { numberOf, textOrNull, type Row } from "../storage/row.ts";
import type { Table } from "../storage/table.ts";
import { HEALTHY, type EndpointHealth } from "./endpoint.ts";

const ROW_KEY = "S";
/** A busy endpoint's successes are noted this often, so that its one row does not become what limits it. */
const SUCCESS_NOTED_MS = 10_000;
const REMEMBERED_MAX = 10_000;

function toHealth(row: Row): EndpointHealth {
  return {
    lastSuccessAt: textOrNull(row, "lastSuccessAt"),
    lastFailureAt: textOrNull(row, "lastFailureAt"),
    failures: numberOf(row, "failures"),
    failingSince: textOrNull(row, "failingSince"),
  };
}

const NO_FAILURES = { failures: 0, failingSince: "" };

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

  /** Ends a row of failures. `lastSuccessAt` is right to ten seconds. */
  async noteSuccess(endpointId: string, now: Date): Promise<void> {
    const noted = this.#succeededAt.get(endpointId);
    if (noted !== undefined && now.getTime() - noted < SUCCESS_NOTED_MS) return;
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
    const row = await this.#addFailure(endpointId, at);
    if (row !== undefined) return toHealth(row);
    const first = { rowKey: ROW_KEY, lastFailureAt: at, failures: 1, failingSince: at };
    if ((await this.#table.insertIfAbsent(endpointId, first)) !== undefined) return toHealth(first);
    const second = await this.#addFailure(endpointId, at);
    return second === undefined ? HEALTHY : toHealth(second);
  }

  #addFailure(endpointId: string, at: string): Promise<Row | undefined> {
    return this.#table.update(endpointId, ROW_KEY, (before) => ({
      lastFailureAt: at,
      failures: numberOf(before, "failures") + 1,
      failingSince: textOrNull(before, "failingSince") ?? at,
    }));
  }

  /** An endpoint that is made active again starts without a past. */
  async forgetFailures(endpointId: string): Promise<void> {
    await this.#table.putProperties(endpointId, { rowKey: ROW_KEY, ...NO_FAILURES });
  }
}
