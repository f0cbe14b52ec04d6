import type { NetworkName } from "../networks/lookup.ts";
import { numberOf, textOf, textOrNull, type Row } from "../runtime/storage/row.ts";
import type { Table } from "../runtime/storage/table.ts";

/** One thing that happened to a post. Never holds a secret: hosts and paths of calls, no query, no body. */
export interface TimelineStep {
  readonly at: string;
  readonly step:
    | "accepted"
    | "scheduled"
    | "fired"
    | "reserved"
    | "retried"
    | "canceled"
    | "leg_claimed"
    | "network_call"
    | "leg_waiting"
    | "leg_settled"
    | "completed"
    | "webhook_sent";
  readonly platform: NetworkName | null;
  readonly attempt: number | null;
  readonly outcome: string;
  readonly durationMs: number | null;
  readonly networkStatus: number | null;
  readonly networkCode: string | null;
  readonly note: string | null;
}

/** A step of the post as a whole. */
export function step(at: string, name: TimelineStep["step"], note: string | null): TimelineStep {
  return {
    at,
    step: name,
    platform: null,
    attempt: null,
    outcome: "ok",
    durationMs: null,
    networkStatus: null,
    networkCode: null,
    note,
  };
}

const STEPS_MAX = 1_000;
/** Of a transaction; a worker's run that takes more steps keeps its first ones. */
const APPEND_MAX = 100;
const NONE = -1;

/** What workers did for a post (table `timeline`, PartitionKey = post id). A record for people, never a basis of a decision. */
export class TimelineStore {
  readonly #table: Table;

  constructor(table: Table) {
    this.#table = table;
  }

  /** Appends the steps of one worker's run. `run` keeps the keys of runs at the same time apart. */
  async append(postId: string, run: string, steps: readonly TimelineStep[]): Promise<void> {
    if (steps.length === 0) return;
    const rows = steps.slice(0, APPEND_MAX).map((step, index) => toRow(step, run, index));
    await this.#table.transact(
      postId,
      rows.map((row) => ({ kind: "create", row })),
    );
  }

  /** Removes everything that was written down for the post. May be repeated. */
  async remove(postId: string): Promise<void> {
    for (;;) {
      const rows = await this.#table.list({ partitionKey: postId, limit: STEPS_MAX });
      await Promise.all(rows.map(({ row }) => this.#table.delete(postId, row.rowKey)));
      if (rows.length < STEPS_MAX) return;
    }
  }

  /** In the order of time. */
  async list(postId: string): Promise<TimelineStep[]> {
    const rows = await this.#table.list({ partitionKey: postId, limit: STEPS_MAX });
    return rows.map(({ row }) => toStep(row));
  }
}

function toRow(step: TimelineStep, run: string, index: number): Row {
  return {
    rowKey: `${step.at}|${run}|${String(index).padStart(3, "0")}`,
    step: step.step,
    network: step.platform ?? "",
    attempt: step.attempt ?? NONE,
    outcome: step.outcome,
    durationMs: step.durationMs ?? NONE,
    networkStatus: step.networkStatus ?? NONE,
    networkCode: step.networkCode ?? "",
    note: step.note ?? "",
  };
}

function toStep(row: Row): TimelineStep {
  const number = (property: string) => {
    const value = numberOf(row, property);
    return value === NONE ? null : value;
  };
  return {
    at: row.rowKey.split("|")[0] ?? "",
    // Safe: the row was written by `toRow` from this very type.
    step: textOf(row, "step") as TimelineStep["step"],
    platform: textOrNull(row, "network") as NetworkName | null,
    attempt: number("attempt"),
    outcome: textOf(row, "outcome"),
    durationMs: number("durationMs"),
    networkStatus: number("networkStatus"),
    networkCode: textOrNull(row, "networkCode"),
    note: textOrNull(row, "note"),
  };
}
