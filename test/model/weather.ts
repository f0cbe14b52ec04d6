import type { Random } from "./random.ts";

/** How often something goes wrong, of all calls of its kind. */
export interface Rates {
  readonly write: number;
  readonly writeFaults: readonly WriteFault[];
  readonly read: number;
  /** Pages that are short or empty although there is more. */
  readonly page: number;
  readonly send: number;
  readonly network: number;
  readonly receiver: number;
  /** Calls after which the whole process pauses for a while. */
  readonly stall: number;
  readonly stallMs: readonly [least: number, most: number];
  /** Calls that take seconds. */
  readonly slow: number;
  /** Requests and messages whose process dies over them. */
  readonly doom: number;
}

/** What became of one write. */
export type WriteFault =
  /** Nothing was applied, the answer is lost. */
  | "error_before"
  /** Applied, the answer is lost. */
  | "error_after"
  /** The answer is lost, and the write is applied later if its conditions still hold then. */
  | "late"
  /** Applied, and answered as a lost race: what a repeat inside a client library makes of its own lost answer. */
  | "false_conflict"
  /** The service is busy: nothing was applied. */
  | "unavailable";

const WRITE_FAULTS: readonly WriteFault[] = [
  "error_before",
  "error_after",
  "late",
  "false_conflict",
  "unavailable",
];

export const FAIR: Rates = {
  write: 0,
  writeFaults: WRITE_FAULTS,
  read: 0,
  page: 0,
  send: 0,
  network: 0,
  receiver: 0,
  stall: 0,
  stallMs: [0, 0],
  slow: 0,
  doom: 0,
};

/** Nothing goes wrong; queries come in pages as the service likes. */
export const CALM: Rates = { ...FAIR, page: 0.1 };

/** After which what a process announced before still stands, so that no search is needed. */
const SHORT_STALL_MS_MAX = 60_000;

/** From hardly anything to nearly everything: defects hide at both ends. */
export function ratesOf(random: Random, isSearched: boolean): Rates {
  const strength = random.pick([0, 0.5, 1, 2, 3]);
  return {
    write: 0.05 * strength,
    writeFaults: WRITE_FAULTS,
    read: 0.03 * strength,
    page: 0.1 * strength,
    send: 0.15 * strength,
    network: 0.2 * strength,
    receiver: 0.15 * strength,
    stall: 0.003 * strength,
    stallMs: [0, isSearched ? 200_000 : SHORT_STALL_MS_MAX],
    slow: 0.01 * strength,
    doom: (isSearched ? 0.04 : 0.12) * strength,
  };
}

/** Of so many runs one has storms, in which tokens arrive and are spent. */
export const STORM_EVERY = 5;
/** Of so many runs, all of them with a search, one has requests that take minutes, and lasts longer. */
export const STANDSTILL_EVERY = 6;

/** Large runs: in the midst of 3,000 platforms that are active all the time. */
export const PLATFORMS_EVERY = 400;
/** Large runs, of the seeds half-way between: 500 posts on one account. */
export const FLOOD_EVERY = 400;

/** Storage that answers no write, and applies some of them when nobody counts on them any more. */
export const STORM: Pick<Rates, "write" | "writeFaults"> = {
  write: 1,
  writeFaults: ["error_before", "error_before", "late"],
};

/** Most messages do not come as they were sent. */
export const BAD_POST: Pick<Rates, "send"> = { send: 0.9 };

/** What happened in a run, so that a report can show that it was worth running. */
export interface Counts {
  transactions: number;
  crashes: number;
  lateWrites: number;
  falseConflicts: number;
  timeouts: number;
  throttled: number;
  poisoned: number;
  lostMessages: number;
  doubledMessages: number;
  networkFaults: number;
  receiverOutages: number;
  stalls: number;
  /** Answered as done. */
  patches: number;
  cancels: number;
  retries: number;
  removals: number;
  relinks: number;
  strayHints: number;
  erasures: number;
  redrives: number;
  /** Rows that a purge removed. */
  purged: number;
}

export function noCounts(): Counts {
  return {
    transactions: 0,
    crashes: 0,
    lateWrites: 0,
    falseConflicts: 0,
    timeouts: 0,
    throttled: 0,
    poisoned: 0,
    lostMessages: 0,
    doubledMessages: 0,
    networkFaults: 0,
    receiverOutages: 0,
    stalls: 0,
    patches: 0,
    cancels: 0,
    retries: 0,
    removals: 0,
    relinks: 0,
    strayHints: 0,
    erasures: 0,
    redrives: 0,
    purged: 0,
  };
}
