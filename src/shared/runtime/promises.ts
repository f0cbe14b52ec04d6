/**
 * Waits for `work`, at most for `ms`. After that time it settles as `late` does; the work continues, and its result is
 * dropped. The timer doesn't keep the process alive.
 */
export async function withTimeLimit<Result, Late>(
  ms: number,
  work: Promise<Result>,
  late: () => Late,
): Promise<Result | Late> {
  const { promise: isOver, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, ms);
  timer.unref();
  try {
    return await Promise.race([work, isOver.then(late)]);
  } finally {
    clearTimeout(timer);
  }
}

/**
 * Calls the function with each item, `size` of them at a time, and returns the results in the order of the items.
 * Rejects with the first error and starts no further batch.
 */
export async function inBatches<Item, Result>(
  items: readonly Item[],
  size: number,
  run: (item: Item) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = [];
  for (let start = 0; start < items.length; start += size)
    results.push(...(await Promise.all(items.slice(start, start + size).map(run))));
  return results;
}

interface Flight<T> {
  readonly beganAt: number;
  readonly outcome: Promise<T>;
  isUnderWay: boolean;
}

/**
 * Joins calls for the same thing while one of them is running, so that all get its outcome. `ms` is how long an
 * outcome, even a failure, is also given to later calls, counted from the start of the first one. Without it, the
 * outcome is forgotten as soon as the call ends.
 */
export class SingleFlight<T> {
  readonly #ms: number;
  readonly #now: () => number;
  readonly #flights = new Map<string, Flight<T>>();

  constructor(ms = 0, now = () => performance.now()) {
    this.#ms = ms;
    this.#now = now;
  }

  run(key: string, work: () => Promise<T>): Promise<T> {
    const beganAt = this.#now();
    const known = this.#flights.get(key);
    const age = beganAt - (known?.beganAt ?? 0);
    if (known !== undefined && (known.isUnderWay || (age >= 0 && age < this.#ms)))
      return known.outcome;
    const outcome = work().finally(() => {
      flight.isUnderWay = false;
      if (this.#ms === 0) this.#flights.delete(key);
    });
    const flight = { beganAt, outcome, isUnderWay: true };
    this.#flights.set(key, flight);
    return outcome;
  }
}
