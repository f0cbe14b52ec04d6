import { isInBackground } from "../telemetry/work-context.ts";

/** Requests under way in a process from which on those of background work wait. */
const UNDER_WAY_MAX = 16;
/** Requests of background work that are under way in any case, so that it always goes on. */
const BACKGROUND_MIN = 2;

/**
 * Lets the requests of callers go before those of workers and timers, which make many more and have nobody waiting for
 * them. A caller's request never waits here. Background work gets what callers leave, and never nothing.
 */
export class RequestGate {
  readonly #waiting: (() => void)[] = [];
  #underWay = 0;
  #background = 0;

  /** Waits until a request may be sent. Returns what to call when it has ended. */
  async begin(): Promise<() => void> {
    const share = isInBackground() ? 1 : 0;
    // A request that waited was counted when it began.
    if (share > 0 && !this.#hasRoom) await new Promise<void>((begin) => this.#waiting.push(begin));
    else this.#count(1, share);
    return () => {
      this.#count(-1, -share);
      while (this.#hasRoom) {
        const beginNext = this.#waiting.shift();
        if (beginNext === undefined) return;
        this.#count(1, 1);
        beginNext();
      }
    };
  }

  get #hasRoom(): boolean {
    return this.#background < BACKGROUND_MIN || this.#underWay < UNDER_WAY_MAX;
  }

  #count(one: number, share: number): void {
    this.#underWay += one;
    this.#background += share;
  }
}
