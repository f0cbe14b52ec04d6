import { unreachable } from "./dialled.ts";

export interface MemoryLimits {
  readonly bytesMax: number;
  /** Less than all, so that there is always room for others. */
  readonly perOwnerMax: number;
}

/**
 * Counts what is held in memory of customers' files, in bytes. Nobody waits: a server may take its time over what it
 * sends, and somebody else's files would stand in line behind it.
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

  /** False, and nothing taken, where it would be too much. */
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

/** Of files that are looked at and of those whose servers tell no size. Images to be fitted are counted elsewhere. */
export const lookedAt = new MemoryBudget({ bytesMax: 128 * MEGABYTE, perOwnerMax: 64 * MEGABYTE });

/** What is held of one file. */
export class HeldMemory {
  readonly #owner: string;
  readonly #budget: MemoryBudget;
  #bytes = 0;

  constructor(owner: string, budget = lookedAt) {
    this.#owner = owner;
    this.#budget = budget;
  }

  /** To be called before the bytes are kept. Throws `MediaFailure` where too much is held already. */
  take(bytes: number): void {
    if (!this.#budget.take(this.#owner, bytes)) throw unreachable("too many files at once");
    this.#bytes += bytes;
  }

  /** The file is held no longer; again does no harm. */
  release(): void {
    this.#budget.giveBack(this.#owner, this.#bytes);
    this.#bytes = 0;
  }
}
