interface Waiting {
  readonly owner: string;
  readonly weight: number;
  readonly begin: () => void;
}

export interface FairLimits {
  /** What may be in hand at a time, in units of weight. */
  readonly capacity: number;
  /** What one owner may have in hand at a time: less than all, so that there is always room for others. */
  readonly perOwner: number;
  readonly waitingMax: number;
}

/**
 * Lets a bounded amount of work go on at a time and shares it among owners: of those that wait, the owner with the
 * least in hand comes first, and of one owner's the one that came first and fits. One owner never fills the line.
 */
export class FairSlots {
  readonly #limits: FairLimits;
  readonly #used = new Map<string, number>();
  #waiting: Waiting[] = [];
  #total = 0;

  constructor(limits: FairLimits) {
    this.#limits = limits;
  }

  /** Runs the work when its turn comes. Undefined, and the work not begun, when too many wait. */
  async run<T>(owner: string, weight: number, work: () => Promise<T>): Promise<T | undefined> {
    const asked = Math.min(weight, this.#limits.perOwner);
    if (this.#waiting.length > 0 || !this.#isFree(owner, asked)) {
      if (this.#isLineFull(owner)) return undefined;
      await new Promise<void>((begin) => {
        this.#waiting.push({ owner, weight: asked, begin });
        this.#beginNext();
      });
    } else this.#take(owner, asked);
    try {
      return await work();
    } finally {
      this.#take(owner, -asked);
      this.#beginNext();
    }
  }

  #isLineFull(owner: string): boolean {
    const { waitingMax } = this.#limits;
    const own = this.#waiting.filter((waiting) => waiting.owner === owner).length;
    return this.#waiting.length >= waitingMax || own >= waitingMax / 2;
  }

  #usedBy(owner: string): number {
    return this.#used.get(owner) ?? 0;
  }

  #isOwnersLimit(owner: string, weight: number): boolean {
    return this.#usedBy(owner) + weight > this.#limits.perOwner;
  }

  #isFree(owner: string, weight: number): boolean {
    return !this.#isOwnersLimit(owner, weight) && this.#total + weight <= this.#limits.capacity;
  }

  #take(owner: string, weight: number): void {
    const used = this.#usedBy(owner) + weight;
    this.#total += weight;
    if (used === 0) this.#used.delete(owner);
    else this.#used.set(owner, used);
  }

  /** What is heavy and next in turn is waited for: lighter work behind it would keep it from ever beginning. */
  #beginNext(): void {
    for (let isFree = true; isFree;) {
      const next = this.#waiting
        .filter(({ owner, weight }) => !this.#isOwnersLimit(owner, weight))
        .reduce<Waiting | undefined>(
          (best, one) =>
            best === undefined || this.#usedBy(one.owner) < this.#usedBy(best.owner) ? one : best,
          undefined,
        );
      isFree = next !== undefined && this.#isFree(next.owner, next.weight);
      if (next === undefined || !isFree) return;
      this.#waiting = this.#waiting.filter((one) => one !== next);
      this.#take(next.owner, next.weight);
      next.begin();
    }
  }
}
