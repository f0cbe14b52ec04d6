import { boundedCode, boundedNote } from "../networks/contract/bounded.ts";
import type { NetworkName } from "../networks/networks.ts";
import { integerOrNull, oneOf, rowCodec, text, textOrNull } from "../runtime/storage/codec.ts";
import { unlessDamaged } from "../runtime/storage/damaged-row.ts";
import type { RowWrite } from "../runtime/storage/row.ts";
import type { Table } from "../runtime/storage/table.ts";

/** What can happen to a post, by its name in the timeline. */
export const TIMELINE_STEPS = [
  "accepted",
  "scheduled",
  "fired",
  "reserved",
  "retried",
  "canceled",
  "leg_claimed",
  "network_call",
  "leg_waiting",
  "leg_settled",
  "comment_sent",
  "removal",
  "completed",
  "webhook_sent",
] as const;

/** One thing that happened to a post. It has no secrets: hosts and paths of calls, but no query and no body. */
export interface TimelineStep {
  readonly at: string;
  readonly step: (typeof TIMELINE_STEPS)[number];
  readonly platform: NetworkName | null;
  readonly attempt: number | null;
  readonly outcome: string;
  readonly durationMs: number | null;
  readonly networkStatus: number | null;
  readonly networkCode: string | null;
  readonly note: string | null;
  /** The endpoint and delivery of a webhook. Null in all other steps. */
  readonly webhookId: string | null;
  readonly deliveryId: string | null;
}

export function timelineStep(
  at: string,
  step: TimelineStep["step"],
  note: string | null = null,
): TimelineStep {
  return {
    at,
    step,
    platform: null,
    attempt: null,
    outcome: "ok",
    durationMs: null,
    networkStatus: null,
    networkCode: null,
    note,
    webhookId: null,
    deliveryId: null,
  };
}

export const timelineRow = rowCodec("timeline step", {
  step: oneOf(TIMELINE_STEPS),
  network: textOrNull<NetworkName>(),
  attempt: integerOrNull(),
  outcome: text(),
  durationMs: integerOrNull(),
  networkStatus: integerOrNull(),
  networkCode: textOrNull(),
  note: textOrNull(),
  webhookId: textOrNull(),
  deliveryId: textOrNull(),
});

const STEPS_MAX = 1_000;
/** The service's limit. Of a run with more steps, the first ones are stored. */
const APPEND_MAX = 100;

/** Stores what workers did for a post (table `timeline`, PartitionKey = post id). Only people read it. */
export class TimelineStore {
  readonly #table: Table;

  constructor(table: Table) {
    this.#table = table;
  }

  /** Appends the steps of one worker's run. `run` separates the keys of concurrent runs. */
  async append(postId: string, run: string, steps: readonly TimelineStep[]): Promise<void> {
    if (steps.length === 0) return;
    const writes = steps.slice(0, APPEND_MAX).map((given, index): RowWrite => {
      const { platform: network, ...step } = given;
      const rowKey = `${step.at}|${run}|${String(index).padStart(3, "0")}`;
      const said = { networkCode: boundedCode(step.networkCode), note: boundedNote(step.note) };
      return {
        kind: "create",
        row: { ...timelineRow.encode({ ...step, ...said, network }), rowKey },
      };
    });
    await this.#table.transact(postId, writes);
  }

  async remove(postId: string): Promise<void> {
    for (;;) {
      const rows = await this.#table.list({ partitionKey: postId, limit: STEPS_MAX });
      await Promise.all(rows.map(({ row }) => this.#table.delete(postId, row.rowKey)));
      if (rows.length < STEPS_MAX) return;
    }
  }

  /** Lists the steps in the order of time, without damaged ones. */
  async list(postId: string): Promise<TimelineStep[]> {
    const rows = await this.#table.list({ partitionKey: postId, limit: STEPS_MAX });
    return rows.flatMap(({ row }) => {
      const found = unlessDamaged(() => timelineRow.decode(row, "people"));
      if (found === undefined) return [];
      const { network: platform, ...step } = found;
      return [{ ...step, platform, at: row.rowKey.split("|")[0] ?? "" }];
    });
  }
}
