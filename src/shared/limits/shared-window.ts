import { randomBytes } from "node:crypto";
import { FRESH_MS, INSTANCES_ASSUMED, nextStep, type Step } from "./next-step.ts";
import type { Counts, RateWindowRows } from "./rate-window-store.ts";
import {
  minuteOf,
  secondsUntilNextMinute,
  secondsUntilRoom,
  weightedCount,
  WINDOW_MS,
  type Usage,
} from "./sliding-window.ts";

/** Storage that takes longer than this is treated like storage that fails. */
const EXCHANGE_MS_MAX = 10_000;
/** So long a request waits for exchanges; then it is decided on what is known here. */
const WAIT_MS_MAX = 10_000;
/** A minute that ended this long ago is counted up by all instances. */
const SETTLED_MS = 3_000;

export interface Decision {
  readonly allowed: boolean;
  readonly limit: number;
  readonly remaining: number;
  /** Until a refused request fits, or until the next minute begins. */
  readonly seconds: number;
}

export interface SharedWindowOptions {
  readonly subject: string;
  readonly rows: RateWindowRows;
  readonly now: () => number;
  readonly onFailure: (error: unknown) => void;
}

/** A minute's counts. It stays the same object when it becomes the previous minute. */
class Tally {
  own = 0;
  /** Of `own`, what the others can read. */
  written = 0;
  others = 0;
  columns: readonly string[] = [];
  settled = false;

  get unseen(): number {
    return this.own - this.written;
  }

  get total(): number {
    return this.own + this.others;
  }

  take(counts: Counts, ownColumn: string): void {
    const others = [...counts].filter(([column]) => column !== ownColumn);
    this.columns = others.map(([column]) => column);
    this.others = others.reduce((sum, [, count]) => sum + count, 0);
  }
}

/**
 * One subject's requests of the last minute over all instances, as one process sees them. Grants are counted here at
 * once and exchanged with the others' counts through storage, one exchange at a time, so that no older count lands last.
 */
export class SharedWindow {
  readonly #options: SharedWindowOptions;
  /** Never used again: a window that is made anew for the subject does not overwrite what this one counted. */
  readonly #column = randomBytes(6).toString("hex");
  #minute = 0;
  #current = new Tally();
  #previous = new Tally();
  #exchangedAt = Number.NEGATIVE_INFINITY;
  #failing = false;
  /** The running exchange; ends early, for those who wait, when storage is too slow. */
  #exchange: Promise<void> | undefined;
  #flush: NodeJS.Timeout | undefined;

  constructor(options: SharedWindowOptions) {
    this.#options = options;
  }

  /** Counts a request when there is room for it. Waits for storage only where the exact count matters. */
  async admit(limit: number): Promise<Decision> {
    const askedAt = this.#roll();
    for (let waited = false; ; waited = true) {
      const now = this.#roll();
      const failing = this.#failing || now - askedAt > WAIT_MS_MAX;
      const step = this.#nextStep(limit, now, { failing, waited });
      if (step.kind === "deny") return this.#decision(false, limit, now);
      if (step.kind === "grant") {
        this.#current.own += 1;
        if (step.exchange) void this.#startExchange();
        else this.#flushLater();
        return this.#decision(true, limit, now);
      }
      await this.#startExchange();
    }
  }

  #nextStep(
    limit: number,
    now: number,
    { failing, waited }: Record<"failing" | "waited", boolean>,
  ): Step {
    return nextStep({
      limit,
      count: weightedCount(this.#usage(), now),
      unseen: this.#unseen(),
      instances: this.#instances(),
      ageMs: now - this.#exchangedAt,
      failing,
      waited,
    });
  }

  #unseen(): number {
    return this.#current.unseen + this.#previous.unseen;
  }

  #usage(): Usage {
    return { current: this.#current.total, previous: this.#previous.total };
  }

  /** A newcomer can't tell who else is just beginning: only after a minute does it count those it sees. */
  #instances(): number {
    const columns = new Set([...this.#current.columns, ...this.#previous.columns]);
    const seen = columns.size + 1;
    return this.#previous.own > 0 ? seen : Math.max(seen, INSTANCES_ASSUMED);
  }

  #decision(allowed: boolean, limit: number, now: number): Decision {
    const usage = this.#usage();
    const remaining = allowed ? Math.max(0, Math.floor(limit - weightedCount(usage, now))) : 0;
    const seconds = allowed ? secondsUntilNextMinute(now) : secondsUntilRoom(usage, limit, now);
    return { allowed, limit, remaining, seconds };
  }

  /** The present time, with the counts moved to the minute that it lies in. A clock that is set back stands still. */
  #roll(): number {
    const now = Math.max(this.#options.now(), this.#minute * WINDOW_MS);
    const minute = minuteOf(now);
    if (minute > this.#minute) {
      this.#previous = minute === this.#minute + 1 ? this.#current : new Tally();
      this.#current = new Tally();
      this.#minute = minute;
    }
    return now;
  }

  /** Starts an exchange or joins the running one. Never fails: what goes wrong changes how the next step is decided. */
  #startExchange(): Promise<void> {
    if (this.#exchange !== undefined) return this.#exchange;
    clearTimeout(this.#flush);
    this.#flush = undefined;
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<void>((resolve) => {
      timer = setTimeout(() => {
        this.#fail(new Error("the exchange of counts takes too long"));
        resolve();
      }, EXCHANGE_MS_MAX);
      timer.unref();
    });
    this.#exchange = Promise.race([this.#runExchange().finally(() => clearTimeout(timer)), late]);
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
    const unsettled = tallies.filter(({ tally }) => !tally.settled);
    const counted = unsettled.map((entry) => ({ ...entry, own: entry.tally.own }));
    await Promise.all(
      counted
        .filter(({ tally, own }) => own !== tally.written)
        .map((entry) => rows.publish(subject, entry.minute, this.#column, entry.own)),
    );
    await Promise.all(
      counted.map(async ({ tally, own, ...entry }) => {
        tally.take(await rows.read(subject, entry.minute), this.#column);
        tally.written = own;
        tally.settled = startedAt >= (entry.minute + 1) * WINDOW_MS + SETTLED_MS;
      }),
    );
  }

  /** Nothing granted stays unknown to the others for long, even when no further request comes. */
  #flushLater(): void {
    if (this.#flush !== undefined || this.#exchange !== undefined || this.#failing) return;
    this.#flush = setTimeout(() => {
      this.#flush = undefined;
      void this.#startExchange();
    }, FRESH_MS);
    this.#flush.unref();
  }
}
