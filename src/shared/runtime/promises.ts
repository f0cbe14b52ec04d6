/**
 * Waits for `work` for this long. Settles as `work` does, or as `late` does after that time: the work then continues,
 * and its result is dropped. The timer does not keep the process alive.
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
 * Calls the function with each item, `size` of them at a time, and returns the results in the items' order. Rejects with
 * the first error; no later batch is begun then.
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

/** Joins calls for the same thing while one is under way, so that all get its outcome. */
export class SingleFlight<T> {
  readonly #flights = new Map<string, Promise<T>>();

  run(key: string, work: () => Promise<T>): Promise<T> {
    const joined = this.#flights.get(key);
    if (joined !== undefined) return joined;
    const flight = work().finally(() => this.#flights.delete(key));
    this.#flights.set(key, flight);
    return flight;
  }
}

/** Does work at most once in a time, and gives its outcome, a failure too, to all callers that come in that time. */
export class SharedOutcome<T> {
  readonly #ms: number;
  readonly #now: () => Date;
  #beganAt = -Infinity;
  #isUnderWay = false;
  #outcome: Promise<T> | undefined;

  constructor(ms: number, now: () => Date) {
    this.#ms = ms;
    this.#now = now;
  }

  /** Returns the outcome of work that is under way, or that began less than the time ago; else does the work. */
  get(work: () => Promise<T>): Promise<T> {
    const now = this.#now().getTime();
    const isYoung = now >= this.#beganAt && now - this.#beganAt < this.#ms;
    if (this.#outcome !== undefined && (this.#isUnderWay || isYoung)) return this.#outcome;
    this.#beganAt = now;
    this.#isUnderWay = true;
    this.#outcome = work().finally(() => {
      this.#isUnderWay = false;
    });
    return this.#outcome;
  }
}

/** Runs at most `max` pieces of work at once, and refuses more. */
export class ConcurrencyLimit {
  readonly #max: number;
  #running = 0;

  constructor(max: number) {
    this.#max = max;
  }

  /** Runs the work, unless too much is under way. Returns whether it ran it. */
  async run(work: () => Promise<void>): Promise<boolean> {
    if (this.#running >= this.#max) return false;
    this.#running += 1;
    try {
      await work();
    } finally {
      this.#running -= 1;
    }
    return true;
  }
}
