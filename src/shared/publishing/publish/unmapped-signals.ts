import type { Log } from "../../runtime/log.ts";
import type { LegFailure } from "../../networks/contract/outcome.ts";
import type { Metrics } from "../../runtime/telemetry/metrics.ts";

/** Kinds that are told apart in one process; what comes beyond is still logged. */
const KINDS_MAX = 1_000;

/**
 * Refusals that no error table knows: each is a row that is missing. One line of a fixed name per refusal, for an alert
 * to count over all processes, and how often this process has met the same one. The network's words stay out of it.
 */
export class UnmappedSignals {
  readonly #log: Log;
  readonly #metrics: Pick<Metrics, "count">;
  readonly #counts = new Map<string, number>();

  constructor(log: Log, metrics: Pick<Metrics, "count">) {
    this.#log = log;
    this.#metrics = metrics;
  }

  record(network: string, { networkCode, unmappedStatus }: LegFailure): void {
    if (unmappedStatus === undefined) return;
    const [code, subcode] = (networkCode ?? "").split("/", 2);
    const kind = `${network} ${networkCode} ${unmappedStatus}`;
    const seen = (this.#counts.get(kind) ?? 0) + 1;
    if (seen > 1 || this.#counts.size < KINDS_MAX) this.#counts.set(kind, seen);
    this.#metrics.count("network.unmapped", { network });
    this.#log.warn("network.signal_unmapped", {
      network,
      networkCode: code || null,
      subcode: subcode ?? null,
      status: unmappedStatus,
      seen,
    });
  }
}
