import type { Random } from "./random.ts";

/** How often something goes wrong, of all calls of its kind. */
export interface Rates {
  readonly write: number;
  readonly read: number;
  /** Pages that are short or empty although there is more. */
  readonly page: number;
  readonly send: number;
  readonly network: number;
  readonly receiver: number;
  /** Calls after which the whole process stands still for a while. */
  readonly stall: number;
  /** Calls that take seconds. */
  readonly slow: number;
}

export const FAIR: Rates = {
  write: 0,
  read: 0,
  page: 0,
  send: 0,
  network: 0,
  receiver: 0,
  stall: 0,
  slow: 0,
};

/** From hardly anything to nearly everything: defects hide at both ends. */
export function ratesOf(random: Random): Rates {
  const strength = random.pick([0, 0.5, 1, 2, 3]);
  return {
    write: 0.05 * strength,
    read: 0.03 * strength,
    page: 0.1 * strength,
    send: 0.15 * strength,
    network: 0.2 * strength,
    receiver: 0.15 * strength,
    stall: 0.003 * strength,
    slow: 0.01 * strength,
  };
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

export const WRITE_FAULTS: readonly WriteFault[] = [
  "error_before",
  "error_after",
  "late",
  "false_conflict",
  "unavailable",
];

/** What happened in a run, so that a report can show that it was worth running. */
export interface Counts {
  transactions: number;
  crashes: number;
  lateWrites: number;
  falseConflicts: number;
  lostMessages: number;
  doubledMessages: number;
  networkFaults: number;
  receiverOutages: number;
  stalls: number;
}

export function noCounts(): Counts {
  return {
    transactions: 0,
    crashes: 0,
    lateWrites: 0,
    falseConflicts: 0,
    lostMessages: 0,
    doubledMessages: 0,
    networkFaults: 0,
    receiverOutages: 0,
    stalls: 0,
  };
}
