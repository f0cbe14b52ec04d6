import { setTimeout as delay } from "node:timers/promises";

/** What a number of equal calls took. */
export interface Timing {
  readonly perSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
}

interface Load {
  /** As many as are to be made, which may be found out while they are. */
  readonly calls: number | (() => number);
  readonly concurrency: number;
  readonly call: (index: number) => Promise<void>;
}

export interface Measured {
  readonly durationMs: number;
  readonly latenciesMs: readonly number[];
}

/** Makes the calls, so many at once; the first failure ends it. */
export async function measure({ calls, concurrency, call }: Load): Promise<Measured> {
  const latenciesMs: number[] = [];
  let next = 0;
  const startedAt = performance.now();
  const caller = async () => {
    while (next < (typeof calls === "number" ? calls : calls())) {
      const index = next;
      next += 1;
      const from = performance.now();
      await call(index);
      latenciesMs.push(performance.now() - from);
    }
  };
  await Promise.all(Array.from({ length: concurrency }, caller));
  return { durationMs: performance.now() - startedAt, latenciesMs };
}

/** Makes calls for a time, so many at once; the first failure ends it. */
export async function measureFor({
  seconds,
  concurrency,
  call,
}: Omit<Load, "calls"> & { readonly seconds: number }): Promise<Measured> {
  const endsAt = performance.now() + seconds * 1000;
  const calls = () => (performance.now() < endsAt ? Infinity : 0);
  return await measure({ calls, concurrency, call });
}

/**
 * Makes calls at a steady rate, whether or not the earlier ones were answered, and waits for all of them.
 * @throws Error the first failure, when all were made
 */
export async function offer<T>({
  calls,
  perSecond,
  call,
}: {
  readonly calls: number;
  readonly perSecond: number;
  readonly call: (index: number) => Promise<T>;
}): Promise<T[]> {
  const made: Promise<T>[] = [];
  const from = performance.now();
  while (made.length < calls) {
    const dueMs = from + (made.length * 1000) / perSecond - performance.now();
    if (dueMs > 0) await delay(dueMs);
    const one = call(made.length);
    // Looked at below, when all were made: until then a failure is nobody's.
    one.catch(() => undefined);
    made.push(one);
  }
  return await Promise.all(made);
}

function percentile(sorted: readonly number[], share: number): number {
  return sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? 0;
}

export function percentileOf(values: readonly number[], share: number): number {
  return percentile(
    [...values].sort((left, right) => left - right),
    share,
  );
}

export function median(values: readonly number[]): number {
  return percentileOf(values, 0.5);
}

/** The median of the rounds' rates, and the latencies of all rounds together. */
export function timingOf(rounds: readonly Measured[]): Timing {
  const sorted = rounds.flatMap((round) => round.latenciesMs).sort((left, right) => left - right);
  return {
    perSecond: median(rounds.map((round) => (round.latenciesMs.length / round.durationMs) * 1000)),
    p50Ms: percentile(sorted, 0.5),
    p99Ms: percentile(sorted, 0.99),
  };
}
