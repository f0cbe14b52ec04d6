interface Counter {
  readonly kind: "counter";
  readonly labels: readonly string[];
}

interface Histogram {
  readonly kind: "histogram";
  readonly labels: readonly string[];
  /** Upper ends of the ranges in which values are counted; what lies beyond the last has a range of its own. */
  readonly bounds: readonly number[];
}

const MILLISECONDS = [5, 10, 25, 50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000];
const SECONDS = [1, 2, 5, 10, 30, 60, 120, 300, 900, 3_600, 86_400];

/**
 * Everything that is counted. The names are a contract: alerts, the workbook and the runbook ask for them. Labels have
 * few values each (networks, codes of lists in the code), never an id.
 */
export const METRICS = {
  "posts.accepted": { kind: "counter", labels: ["outcome"] },
  "posts.accept_ms": { kind: "histogram", labels: ["outcome"], bounds: MILLISECONDS },
  "posts.lateness_s": { kind: "histogram", labels: [], bounds: SECONDS },
  "legs.ended": { kind: "counter", labels: ["network", "outcome"] },
  "legs.delayed": { kind: "counter", labels: ["network", "reason"] },
  "legs.publish_s": { kind: "histogram", labels: ["network"], bounds: SECONDS },
  "network.unmapped": { kind: "counter", labels: ["network"] },
  "webhooks.attempted": { kind: "counter", labels: ["outcome"] },
  "webhooks.circuits": { kind: "counter", labels: ["change"] },
  "webhooks.attempt_ms": { kind: "histogram", labels: [], bounds: MILLISECONDS },
  "wallet.batch_operations": {
    kind: "histogram",
    labels: ["outcome"],
    bounds: [1, 2, 4, 8, 16, 32, 64],
  },
  "wallets.mismatched": { kind: "counter", labels: [] },
  "queues.poisoned": { kind: "counter", labels: ["queue"] },
} as const satisfies Readonly<Record<string, Counter | Histogram>>;

type Table = typeof METRICS;
export type MetricName = keyof Table;
export type CounterName = {
  [Name in MetricName]: Table[Name]["kind"] extends "counter" ? Name : never;
}[MetricName];
export type HistogramName = Exclude<MetricName, CounterName>;
export type LabelsOf<Name extends MetricName> = Readonly<
  Record<Table[Name]["labels"][number], string>
>;
