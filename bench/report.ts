import type { Cell } from "./cell.ts";
import { BENCH_PREFIX } from "./relay.ts";

/** Columns of text, numbers to the right. */
export function tableText(rows: readonly (readonly string[])[]): string {
  const widths = (rows[0] ?? []).map((_, column) =>
    Math.max(...rows.map((row) => row[column]?.length ?? 0)),
  );
  return rows
    .map((row) => row.map((text, column) => text.padStart(widths[column] ?? 0)).join("  "))
    .join("\n");
}

const whole = (value: number) => value.toFixed(0);
const tenth = (value: number) => value.toFixed(1);
const hundredth = (value: number) => value.toFixed(2);

interface Goal {
  readonly text: string;
  readonly measured: string;
  readonly isMet: boolean;
}

export function acceptTable(cells: readonly Cell[]): string {
  const head =
    "tenants,legs,at once,accepted/s,p50 ms,p99 ms,HTTP bare/s,of HTTP,requests/post,posts/transaction";
  const rows = cells.map(({ load, product, http, ...cell }) => [
    whole(load.tenants),
    whole(load.legs),
    whole(load.concurrency),
    whole(product.perSecond),
    tenth(product.p50Ms),
    tenth(product.p99Ms),
    whole(http.perSecond),
    hundredth(cell.ofHttp),
    hundredth(cell.requestsPerPost),
    tenth(cell.postsPerTransaction),
  ]);
  return tableText([head.split(","), ...rows]);
}

const GOAL_OF_BARE = 0.6;
const GOAL_OF_BARE_ALONE = 0.7;
const GOAL_SINGLE = 2;
const GOAL_TAIL = 3;
const GOAL_REQUESTS = 3;

/** The goals that were set before the first line was written, each with what this run says of it. */
function goals(cells: readonly Cell[]): Goal[] {
  return cells.flatMap((cell): Goal[] => {
    const { load, product, http, single } = cell;
    const who = load.tenants === 1 ? "one tenant" : `${load.tenants} tenants`;
    if (load.concurrency === 64) {
      const goal = load.tenants === 1 ? GOAL_OF_BARE_ALONE : GOAL_OF_BARE;
      const tail = product.p99Ms / product.p50Ms;
      return [
        {
          text: `${who}, 64 at once: at least ${goal} of bare HTTP`,
          measured: hundredth(cell.ofHttp),
          isMet: cell.ofHttp >= goal,
        },
        {
          text: `${who}, 64 at once: p99 at most ${GOAL_TAIL} × p50`,
          measured: `${tenth(tail)} ×`,
          isMet: tail <= GOAL_TAIL,
        },
      ];
    }
    if (load.concurrency !== 1) return [];
    const times = product.p50Ms / http.p50Ms;
    return [
      {
        text: `${who}, one at a time: p50 at most ${GOAL_SINGLE} × the bare transaction plus send`,
        measured: `${tenth(times)} ×`,
        isMet: times <= GOAL_SINGLE,
      },
      {
        text: `${who}: at most ${GOAL_REQUESTS} requests to storage for a post of one leg, and so many in turn`,
        measured: `${single.total}, ${single.sequential}`,
        isMet: single.total <= GOAL_REQUESTS && single.sequential <= GOAL_REQUESTS,
      },
    ];
  });
}

/** A goal as a line of its own. */
export const goalText = ({ text, measured, isMet }: Goal) =>
  `goal: ${text}: ${measured} ${isMet ? "met" : "MISSED"}`;

export function goalsTable(cells: readonly Cell[]): string {
  return tableText(
    goals(cells).map(({ text, measured, isMet }) => [text, measured, isMet ? "met" : "MISSED"]),
  );
}

const PREFIX = new RegExp(`^${BENCH_PREFIX}[0-9a-f]{12}`);

export function singleText({ single, rowsPerPost }: Cell): string {
  const { read, write, transaction, send } = single.byKind;
  const reads = Object.entries(single.readsOf).map(([place, times]) => {
    const name = place.replace(PREFIX, "");
    return times === 1 ? name : `${name} × ${times}`;
  });
  return [
    `One accept on an idle, warm process: ${single.total} requests to storage, ${single.sequential} of them one after another:`,
    `  ${read} reads (${reads.join(", ")}), ${write} single writes, ${transaction} transaction of ${rowsPerPost} rows, ${send} send`,
  ].join("\n");
}
