import { unreachable } from "../networks/contract/unreachable.ts";

export interface MemoryLimits {
  readonly bytesMax: number;
  /** Less than `bytesMax`, so that there is always room for others. */
  readonly perOwnerMax: number;
}

/**
 * Counts the bytes of customers' files in memory. It has no queue: a slow server would delay the files of other
 * customers.
 */
export class MemoryBudget {
  readonly #limits: MemoryLimits;
  readonly #used = new Map<string, number>();
  #total = 0;

  constructor(limits: MemoryLimits) {
    this.#limits = limits;
  }

  get total(): number {
    return this.#total;
  }

  /** Takes bytes. Returns false, and takes nothing, when that would exceed a limit. */
  take(owner: string, bytes: number): boolean {
    const used = (this.#used.get(owner) ?? 0) + bytes;
    const { bytesMax, perOwnerMax } = this.#limits;
    if (used > perOwnerMax || this.#total + bytes > bytesMax) return false;
    this.#used.set(owner, used);
    this.#total += bytes;
    return true;
  }

  giveBack(owner: string, bytes: number): void {
    const used = (this.#used.get(owner) ?? 0) - bytes;
    this.#total -= bytes;
    if (used > 0) this.#used.set(owner, used);
    else this.#used.delete(owner);
  }
}

const MEGABYTE = 1024 * 1024;

/** Memory of files that are probed, or whose servers state no size. Images to be fitted are counted elsewhere. */
export const probedFiles = new MemoryBudget({
  bytesMax: 128 * MEGABYTE,
  perOwnerMax: 64 * MEGABYTE,
});

/** The memory of one file. */
export class HeldMemory {
  readonly #owner: string;
  readonly #budget: MemoryBudget;
  #bytes = 0;

  constructor(owner: string, budget = probedFiles) {
    this.#owner = owner;
    this.#budget = budget;
  }

  /** Takes bytes; call it before they are kept. @throws MediaFailure when too many are in memory */
  take(bytes: number): void {
    if (!this.#budget.take(this.#owner, bytes)) throw unreachable("busy");
    this.#bytes += bytes;
  }

  /** Gives back all bytes of the file. Safe to repeat. */
  release(): void {
    this.#budget.giveBack(this.#owner, this.#bytes);
    this.#bytes = 0;
  }
}
