import { setImmediate as turn } from "node:timers/promises";
import { vi } from "vitest";
import type { WindowCounts, RateWindowRows } from "../../src/shared/limits/rate-window-store.ts";

/** Numbers in [0, 1) that are the same for the same seed. */
export function seeded(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x9e3779b9) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 16), 0x21f0aaad);
    mixed = Math.imul(mixed ^ (mixed >>> 15), 0x735a2d97);
    return ((mixed ^ (mixed >>> 15)) >>> 0) / 2 ** 32;
  };
}

const TIMER_STEP_MS = 100;
const timersWaiting = () => vi.isFakeTimers() && vi.getTimerCount() > 0;

interface Event {
  readonly at: number;
  readonly run: () => void;
}

/**
 * Time that pauses while code runs and leaps to the next event when nothing is left to do. Timers of the code run
 * in it as well, when the test has faked them.
 */
export class VirtualTime {
  #now: number;
  #events: Event[] = [];

  constructor(start: number) {
    this.#now = start;
  }

  now = (): number => this.#now;

  schedule(at: number, run: () => void): void {
    this.#events.push({ at, run });
  }

  /** Resolves after so many milliseconds. */
  pass(ms: number): Promise<void> {
    return new Promise((resolve) => this.schedule(this.#now + ms, resolve));
  }

  async runOut(): Promise<void> {
    while (this.#events.length > 0 || timersWaiting()) {
      const next = this.#events.reduce<Event | undefined>(
        (first, event) => (first === undefined || event.at < first.at ? event : first),
        undefined,
      );
      // What a timer starts happens in the time after it, so time goes on in small steps while one is set.
      const step = timersWaiting() ? this.#now + TIMER_STEP_MS : Number.POSITIVE_INFINITY;
      const isDue = next !== undefined && next.at <= step;
      this.#advance(isDue ? next.at : step);
      if (isDue) {
        this.#events = this.#events.filter((event) => event !== next);
        next.run();
      }
      await turn();
    }
  }

  #advance(to: number): void {
    const ms = Math.max(0, to - this.#now);
    this.#now += ms;
    if (vi.isFakeTimers()) vi.advanceTimersByTime(ms);
  }
}

/** Rows of a table that every instance reaches after some time, there and back. */
export class SlowRows implements RateWindowRows {
  readonly #rows = new Map<string, Map<string, number>>();
  readonly #delay: () => Promise<void>;
  calls = 0;

  constructor(delay: () => Promise<void>) {
    this.#delay = delay;
  }

  async publish(subject: string, minute: number, column: string, count: number): Promise<void> {
    this.calls += 1;
    await this.#delay();
    const row = this.#rows.get(`${subject}|${minute}`) ?? new Map<string, number>();
    this.#rows.set(`${subject}|${minute}`, row.set(column, count));
    await this.#delay();
  }

  async read(subject: string, minute: number): Promise<WindowCounts> {
    this.calls += 1;
    await this.#delay();
    const row = new Map(this.#rows.get(`${subject}|${minute}`));
    await this.#delay();
    return row;
  }
}
