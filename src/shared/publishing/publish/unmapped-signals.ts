import type { Log } from "../../runtime/log.ts";
import type { LegFailure } from "../../networks/contract/outcome.ts";
import type { Metrics } from "../../runtime/telemetry/metrics.ts";

/** Kinds that one process counts separately. Others are only logged. */
const KINDS_MAX = 1_000;

/**
 * Logs refusals that no error table has. Each of them is a missing row. An alert counts the lines, which have a fixed
 * name, over all processes, and each line has the number of the same kind in this process. The network's own text is
 * left out.
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
