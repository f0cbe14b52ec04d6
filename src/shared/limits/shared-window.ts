import { randomBytes } from "node:crypto";
import {
  FRESH_MS,
  INSTANCES_ASSUMED,
  minuteIndex,
  admissionStep,
  secondsUntilNextMinute,
  secondsUntilRoom,
  weightedCount,
  WINDOW_MS,
  type AdmitStep,
  type Usage,
} from "./sliding-window.ts";
import { withTimeLimit } from "../runtime/promises.ts";
import type { WindowCounts, RateWindowRows } from "./rate-window-store.ts";

/** When storage takes longer than this, it counts as failing. */
const EXCHANGE_MS_MAX = 10_000;
/** How long a request waits for exchanges. After that, the counts that this process knows decide. */
const WAIT_MS_MAX = 10_000;
/** How long after the end of a minute all instances have written their counts. */
const COMPLETE_MS = FRESH_MS + 2_000;

/** Whether a request was admitted, and how much of the limit is left. */
export interface Admission {
  readonly allowed: boolean;
  readonly limit: number;
  readonly remaining: number;
  /** Seconds until a refused request fits, or until the next minute begins. */
  readonly seconds: number;
}

export interface SharedWindowOptions {
  readonly subject: string;
  readonly rows: RateWindowRows;
  readonly now: () => number;
  readonly onFailure: (error: unknown) => void;
}

/** The counts of one minute. The same object later serves as the previous minute. */
class MinuteCounts {
  own = 0;
  /** The part of `own` that the others can read. */
  written = 0;
  others = 0;
  columns: readonly string[] = [];
  isComplete = false;

  get unseen(): number {
    return this.own - this.written;
  }

  get total(): number {
    return this.own + this.others;
  }

  take(counts: WindowCounts, ownColumn: string): void {
    const others = [...counts].filter(([column]) => column !== ownColumn);
    this.columns = others.map(([column]) => column);
    this.others = others.reduce((sum, [, count]) => sum + count, 0);
  }
}

/**
 * The requests of one subject in the last minute over all instances, as one process sees them. Admitted requests are
 * counted here immediately. Only one exchange through storage runs at a time, so an older count is never written last.
 */
export class SharedWindow {
  readonly #options: SharedWindowOptions;
  /** Unique, so that a later window of the same subject doesn't overwrite the counts of this one. */
  readonly #column = randomBytes(6).toString("hex");
  #minute = 0;
  #current = new MinuteCounts();
  #previous = new MinuteCounts();
  #exchangedAt = Number.NEGATIVE_INFINITY;
  #failing = false;
  /** The running exchange. For those who wait, it ends early when storage is too slow. */
  #exchange: Promise<void> | undefined;
  #flush: NodeJS.Timeout | undefined;

  constructor(options: SharedWindowOptions) {
    this.#options = options;
  }

  /** Counts a request if there is room for it. It waits for storage only when the exact count matters. */
  admit(limit: number): Promise<Admission> {
    return admitTogether([{ window: this, limit }], this.#options.now);
  }

  /** Decides the next step of a request. `waited` says that an exchange ended while it was waiting. */
  step(limit: number, at: Moment, waited: boolean): AdmitStep {
    const now = this.#roll(at.now);
    const columns = new Set([...this.#current.columns, ...this.#previous.columns]);
    const seen = columns.size + 1;
    return admissionStep({
      limit,
      count: weightedCount(this.#usage(), now),
      unseen: this.#unseen(),
      // An instance that just started doesn't yet see others that started with it.
      instances: this.#previous.own > 0 ? seen : Math.max(seen, INSTANCES_ASSUMED),
      isFresh: now - this.#exchangedAt <= FRESH_MS,
      failing: this.#failing || at.now - at.askedAt > WAIT_MS_MAX,
      waited,
    });
  }

  /** Counts an admitted request, and exchanges counts with the others, now or soon. */
  count(atOnce: boolean): void {
    this.#current.own += 1;
    if (atOnce) void this.exchange();
    else this.#flushLater();
  }

  #unseen(): number {
    return this.#current.unseen + this.#previous.unseen;
  }

  #usage(): Usage {
    return { current: this.#current.total, previous: this.#previous.total };
  }

  decision(allowed: boolean, limit: number, at: Moment): Admission {
    const now = this.#roll(at.now);
    const usage = this.#usage();
    const remaining = allowed ? Math.max(0, Math.floor(limit - weightedCount(usage, now))) : 0;
    const seconds = allowed ? secondsUntilNextMinute(now) : secondsUntilRoom(usage, limit, now);
    return { allowed, limit, remaining, seconds };
  }

  /** Returns the time, after moving the counts to its minute. It never goes back, even if the clock does. */
  #roll(time = this.#options.now()): number {
    const now = Math.max(time, this.#minute * WINDOW_MS);
    const minute = minuteIndex(now);
    if (minute > this.#minute) {
      this.#previous = minute === this.#minute + 1 ? this.#current : new MinuteCounts();
      this.#current = new MinuteCounts();
      this.#minute = minute;
    }
    return now;
  }

  /** Starts an exchange or joins the running one. Never fails. A failure changes how the next step is decided. */
  exchange(): Promise<void> {
    if (this.#exchange !== undefined) return this.#exchange;
    clearTimeout(this.#flush);
    this.#flush = undefined;
    this.#exchange = withTimeLimit(EXCHANGE_MS_MAX, this.#runExchange(), () =>
      this.#fail(new Error("the exchange of counts takes too long")),
    );
    return this.#exchange;
  }

  async #runExchange(): Promise<void> {
    try {
      await this.#exchangeCounts();
      this.#failing = false;
    } catch (error) {
      this.#fail(error);
    }
    this.#exchange = undefined;
    this.#exchangedAt = this.#roll();
    if (this.#unseen() > 0) this.#flushLater();
  }

  #fail(error: unknown): void {
    this.#failing = true;
    this.#options.onFailure(error);
  }

  async #exchangeCounts(): Promise<void> {
    const { subject, rows } = this.#options;
    const startedAt = this.#roll();
    const minute = this.#minute;
    const tallies = [
      { minute, tally: this.#current },
      { minute: minute - 1, tally: this.#previous },
    ];
    const incomplete = tallies.filter(({ tally }) => !tally.isComplete);
    const counted = incomplete.map((entry) => ({ ...entry, own: entry.tally.own }));
    await Promise.all(
      counted
        .filter(({ tally, own }) => own !== tally.written)
        .map((entry) => rows.publish(subject, entry.minute, this.#column, entry.own)),
    );
    await Promise.all(
      counted.map(async ({ tally, own, ...entry }) => {
        tally.take(await rows.read(subject, entry.minute), this.#column);
        tally.written = own;
        tally.isComplete = startedAt >= (entry.minute + 1) * WINDOW_MS + COMPLETE_MS;
      }),
    );
  }

  /** Exchanges counts soon, so that the others learn of admitted requests even if no further request comes. */
  #flushLater(): void {
    if (this.#flush !== undefined || this.#exchange !== undefined || this.#failing) return;
    this.#flush = setTimeout(() => {
      this.#flush = undefined;
      void this.exchange();
    }, FRESH_MS);
    this.#flush.unref();
  }
}

interface Moment {
  readonly now: number;
  readonly askedAt: number;
}

export interface Bucket {
  readonly window: SharedWindow;
  readonly limit: number;
}

/** Chooses the refusal with the longest wait, or else the admission with the least left. */
function decideAll(
  buckets: readonly Bucket[],
  steps: readonly AdmitStep[],
  at: Moment,
): Admission | undefined {
  const isRefused = steps.some(({ kind }) => kind === "deny");
  if (!isRefused && steps.some(({ kind }) => kind === "wait")) return undefined;
  const decisions: Admission[] = [];
  for (const [index, { window, limit }] of buckets.entries()) {
    const step = steps[index];
    if (isRefused && step?.kind !== "deny") continue;
    if (step?.kind === "grant") window.count(step.exchange);
    decisions.push(window.decision(!isRefused, limit, at));
  }
  return decisions.reduce((first, other) => {
    const isOther = isRefused ? other.seconds > first.seconds : other.remaining < first.remaining;
    return isOther ? other : first;
  });
}

/** Counts a request in every bucket if all have room, or in none. It waits for storage in all of them in parallel. */
export async function admitTogether(
  buckets: readonly Bucket[],
  now: () => number,
): Promise<Admission> {
  const waited = new Set<SharedWindow>();
  for (let at = now(), askedAt = at; ; at = now()) {
    const moment = { now: at, askedAt };
    const steps = buckets.map(({ window, limit }) =>
      window.step(limit, moment, waited.has(window)),
    );
    const decision = decideAll(buckets, steps, moment);
    if (decision !== undefined) return decision;
    const waiting = buckets.filter((_bucket, index) => steps[index]?.kind === "wait");
    await Promise.all(waiting.map(({ window }) => window.exchange()));
    for (const { window } of waiting) waited.add(window);
  }
}
