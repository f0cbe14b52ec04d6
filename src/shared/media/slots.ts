/** Lets so many go on at a time; the others wait in the order in which they came, unless too many do already. */
export class Slots {
  readonly #max: number;
  readonly #waitingMax: number;
  readonly #waiting: (() => void)[] = [];
  #taken = 0;

  constructor(max: number, waitingMax: number) {
    this.#max = max;
    this.#waitingMax = waitingMax;
  }

  /** Undefined when too many wait. */
  async run<T>(work: () => Promise<T>): Promise<T | undefined> {
    if (this.#taken >= this.#max) {
      if (this.#waiting.length >= this.#waitingMax) return undefined;
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    } else this.#taken += 1;
    try {
      return await work();
    } finally {
      const next = this.#waiting.shift();
      if (next === undefined) this.#taken -= 1;
      else next();
    }
  }
}
