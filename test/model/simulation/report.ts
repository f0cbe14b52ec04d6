import type { Outcome } from "./simulation.ts";
import { noCounts, type Counts } from "../weather.ts";

const LABELS: Readonly<Record<keyof Counts, string>> = {
  transactions: "transactions",
  crashes: "crashes",
  lateWrites: "writes that landed late",
  falseConflicts: "false conflicts",
  timeouts: "calls given up",
  throttled: "busy partitions",
  poisoned: "messages given up",
  lostMessages: "lost messages",
  doubledMessages: "doubled messages",
  networkFaults: "faults of networks",
  receiverOutages: "outages of receivers",
  stalls: "stalls",
  patches: "changes of posts",
  cancels: "cancels",
  retries: "retries",
  removals: "removals",
  relinks: "accounts linked again",
  strayHints: "stray hints",
  erasures: "erasures",
  redrives: "redriven deliveries",
  purged: "purged rows",
};

/** What many runs came to. */
export class Report {
  readonly #counts = noCounts();
  readonly failed: Outcome[] = [];
  #seeds = 0;

  add(outcome: Outcome): void {
    this.#seeds += 1;
    for (const name of Object.keys(this.#counts) as (keyof Counts)[])
      this.#counts[name] += outcome.counts[name];
    if (outcome.violations.length > 0) this.failed.push(outcome);
  }

  get counts(): Readonly<Counts> {
    return this.#counts;
  }

  /** One line. */
  summary(): string {
    const counted = (Object.keys(LABELS) as (keyof Counts)[]).map(
      (name) => `${this.#counts[name].toLocaleString("en")} ${LABELS[name]}`,
    );
    const violations = this.failed.reduce((sum, outcome) => sum + outcome.violations.length, 0);
    return `simulation: ${this.#seeds} seeds, ${counted.join(", ")}: ${violations} violations`;
  }
}

/** A failed run as people need it: what was broken, and how to see it again. */
export function describeFailure({ seed, violations }: Outcome): string {
  const lines = violations.map((violation) => `  ${violation}`);
  return [`seed ${seed} (again with: SEED=${seed} npm run simulate)`, ...lines].join("\n");
}
