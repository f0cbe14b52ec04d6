import { randomBytes } from "node:crypto";
import type { Log } from "../log.ts";
import { outsideWork } from "./work-context.ts";

interface Counter {
  readonly kind: "counter";
  readonly labels: readonly string[];
}

interface Histogram {
  readonly kind: "histogram";
  readonly labels: readonly string[];
  /** Upper bounds of the ranges in which values are counted. Larger values are counted in one more range. */
  readonly bounds: readonly number[];
}

const MILLISECONDS = [5, 10, 25, 50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000];
const SECONDS = [1, 2, 5, 10, 30, 60, 120, 300, 900, 3_600, 86_400];

/**
 * All metrics. Their names are a contract: alerts, the workbook and the runbook use them. A label has few values
 * (networks, or codes from a list in the code) and is never an id.
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
  "mails.ended": { kind: "counter", labels: ["outcome"] },
  "mails.failed": { kind: "counter", labels: ["step", "meaning"] },
  "mails.failing_s": { kind: "histogram", labels: [], bounds: SECONDS },
  "wallet.batch_operations": {
    kind: "histogram",
    labels: ["outcome"],
    bounds: [1, 2, 4, 8, 16, 32, 64],
  },
  "wallets.mismatched": { kind: "counter", labels: [] },
  "wallets.unchecked": { kind: "counter", labels: [] },
  "walks.behind_s": { kind: "histogram", labels: ["walk"], bounds: SECONDS },
  "requests.overloaded": { kind: "counter", labels: ["caller"] },
  "queues.poisoned": { kind: "counter", labels: ["queue"] },
} as const satisfies Readonly<Record<string, Counter | Histogram>>;

type MetricTable = typeof METRICS;
export type MetricName = keyof MetricTable;
export type CounterName = {
  [Name in MetricName]: MetricTable[Name]["kind"] extends "counter" ? Name : never;
}[MetricName];
export type HistogramName = Exclude<MetricName, CounterName>;
export type LabelsOf<Name extends MetricName> = Readonly<
  Record<MetricTable[Name]["labels"][number], string>
>;

const FLUSH_MS = 60_000;
/** Limits the memory when a label has more values than expected. */
const SERIES_MAX = 200;
const OTHER = "(other)";

interface Series {
  readonly name: MetricName;
  readonly labels: Readonly<Record<string, string>>;
  count: number;
  sum: number;
  min: number;
  max: number;
  /** Counts for each of the metric's bounds, and one for all larger values. */
  readonly ranges: number[];
}

function boundsOf(name: MetricName): readonly number[] {
  const metric = METRICS[name];
  return metric.kind === "histogram" ? metric.bounds : [];
}

/** The counters and histograms of a process, kept in memory and logged once a minute, one line per series. */
export class Metrics {
  readonly #log: Log;
  /** Distinguishes the lines of concurrent processes. */
  readonly #process = randomBytes(4).toString("hex");
  readonly #series = new Map<MetricName, Map<string, Series>>();
  #since = "";
  #timer: NodeJS.Timeout | undefined;

  constructor(log: Log) {
    this.#log = log;
  }

  count<Name extends CounterName>(name: Name, labels: LabelsOf<Name>, times = 1): void {
    const series = this.#seriesOf(name, labels);
    series.count += times;
    series.sum += times;
  }

  observe<Name extends HistogramName>(name: Name, value: number, labels: LabelsOf<Name>): void {
    const series = this.#seriesOf(name, labels);
    series.count += 1;
    series.sum += value;
    series.min = Math.min(series.min, value);
    series.max = Math.max(series.max, value);
    const within = boundsOf(name).findIndex((bound) => value <= bound);
    const range = within < 0 ? boundsOf(name).length : within;
    series.ranges[range] = (series.ranges[range] ?? 0) + 1;
  }

  /** Logs what was counted since the last call. */
  flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const gathered = [...this.#series.values()].flatMap((series) => [...series.values()]);
    this.#series.clear();
    // The lines must not appear under the request that happens to be running.
    outsideWork(() => {
      for (const series of gathered) this.#write(series);
    });
  }

  #write(series: Series): void {
    const { name, labels, count, sum, min, max, ranges } = series;
    const isHistogram = METRICS[name].kind === "histogram";
    const bounds = boundsOf(name);
    // As `{"<=5": 12, "<=10": 3, ">10": 1}`.
    const named = ranges.map((times, index): [string, number] => {
      const bound = bounds[index];
      return [bound === undefined ? `>${bounds.at(-1)}` : `<=${bound}`, times];
    });
    const filled = Object.fromEntries(named.filter(([, times]) => times > 0));
    this.#log.info("metric", {
      metric: name,
      process: this.#process,
      since: this.#since,
      ...labels,
      count,
      // Without the rounding errors of the sum.
      ...(isHistogram && { sum: Math.round(sum * 1_000) / 1_000, min, max, ranges: filled }),
    });
  }

  #seriesOf<Name extends MetricName>(name: Name, labels: LabelsOf<Name>): Series {
    if (this.#timer === undefined) {
      // With the first value of a minute, so that an idle process logs nothing.
      this.#since = new Date().toISOString();
      this.#timer = outsideWork(() => setTimeout(() => this.flush(), FLUSH_MS)).unref();
    }
    let ofMetric = this.#series.get(name);
    if (ofMetric === undefined) {
      ofMetric = new Map();
      this.#series.set(name, ofMetric);
    }
    const asGiven: Readonly<Record<string, string>> = labels;
    const known = ofMetric.get(seriesKey(asGiven));
    if (known !== undefined) return known;
    const isFull = ofMetric.size >= SERIES_MAX;
    const other = Object.fromEntries(Object.keys(asGiven).map((label) => [label, OTHER]));
    const kept = isFull ? other : asGiven;
    const histogram = METRICS[name].kind === "histogram";
    const series = ofMetric.get(seriesKey(kept)) ?? {
      name,
      labels: kept,
      count: 0,
      sum: 0,
      min: Infinity,
      max: -Infinity,
      ranges: histogram ? [...boundsOf(name), 0].map(() => 0) : [],
    };
    ofMetric.set(seriesKey(kept), series);
    return series;
  }
}

function seriesKey(labels: Readonly<Record<string, string>>): string {
  return Object.values(labels).join("|");
}
