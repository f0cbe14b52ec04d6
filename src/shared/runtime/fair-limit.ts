/** How long work waits for a slot by default. After that, the caller does better to try again later. */
const WAIT_MS_MAX = 60_000;

interface Kind {
  /** Whether the work comes before all other. The default is no. */
  readonly isPreferred?: boolean;
  /** Which of the owner's members asks for it. */
  readonly member?: string | undefined;
}

interface LimitedWork extends Kind {
  readonly owner: string;
  readonly weight: number;
  readonly isPreferred: boolean;
}

interface WaitingWork extends LimitedWork {
  readonly begin: (hasSlot: boolean) => void;
}

export interface FairLimits {
  /** Total weight that may run at the same time. */
  readonly capacity: number;
  /** Weight that one owner may run at the same time. It is less than `capacity`, so that others always have room. */
  readonly perOwner: number;
  /** How much of `capacity` only preferred work may use, so that it never waits for other work. The default is none. */
  readonly capacityReserved?: number;
  /** How many pieces of work may wait. With 0, work that finds no free slot is refused. */
  readonly waitingMax: number;
  /** How many pieces of work of one owner may wait. The default is half of `waitingMax`. */
  readonly waitingOfOwnerMax?: number;
  /** The same for preferred work. The default is `waitingOfOwnerMax`. */
  readonly preferredOfOwnerMax?: number;
  /** How many pieces of work of one member of an owner may wait. The default is any number. */
  readonly waitingOfMemberMax?: number;
  /** How many of the waiting places only preferred work may take. The default is none. */
  readonly waitingReserved?: number;
  /** How long work may wait for a slot. The default is a minute. */
  readonly waitMsMax?: number;
}

/**
 * Limits concurrent work and shares it fairly among owners. When a slot is free, the waiting owner with the least
 * running work gets it, for the oldest of its work that fits. Preferred work comes before all other. Owners never fill
 * the queue for an owner who has less in it: the newest work of the owner with the most gives way. Nor do an owner's
 * members for one another.
 */
export class FairLimit {
  readonly #limits: FairLimits;
  readonly #used = new Map<string, number>();
  #waiting: WaitingWork[] = [];
  #total = 0;
  #preferredTotal = 0;

  constructor(limits: FairLimits) {
    this.#limits = limits;
  }

  /**
   * Waits for a slot, runs the work and returns its result. Returns undefined, without running it, when too many wait
   * already, when no slot was free in time, or when the work gave way to that of another owner.
   */
  async run<T>(
    owner: string,
    weight: number,
    work: () => Promise<T>,
    kind: Kind = {},
  ): Promise<{ readonly result: T } | undefined> {
    const asked = Math.min(weight, this.#limits.perOwner);
    if (!(await this.acquire(owner, asked, kind))) return undefined;
    try {
      return { result: await work() };
    } finally {
      this.giveBack(owner, asked, kind);
    }
  }

  /**
   * Waits for a slot, which is the caller's until it is given back. Returns false, and takes nothing, where `run`
   * wouldn't run the work, and always for more than `perOwner`.
   */
  async acquire(
    owner: string,
    weight: number,
    { isPreferred = false, member }: Kind = {},
  ): Promise<boolean> {
    const work = { owner, weight, isPreferred, member };
    if (this.#waiting.length === 0 && this.#isFree(work)) {
      this.#take(work);
      return true;
    }
    if (!this.#findPlace(work)) return false;
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const waiting: WaitingWork = { ...work, begin: resolve };
    const timer = setTimeout(() => {
      this.#drop(waiting);
      this.#beginNext();
    }, this.#limits.waitMsMax ?? WAIT_MS_MAX);
    this.#waiting.push(waiting);
    this.#beginNext();
    try {
      return await promise;
    } finally {
      clearTimeout(timer);
    }
  }

  /** The weight that is running now. */
  get total(): number {
    return this.#total;
  }

  /**
   * Takes some of the owner's weight without waiting, until it is given back. Returns false, and takes nothing, if that
   * would exceed a limit or if waiting work needs the free weight.
   */
  take(owner: string, weight: number): boolean {
    const taken = { owner, weight, isPreferred: false };
    if (!this.#isFree(taken) || this.#next() !== undefined) return false;
    this.#take(taken);
    return true;
  }

  giveBack(owner: string, weight: number, { isPreferred = false }: Kind = {}): void {
    this.#take({ owner, weight: -weight, isPreferred });
    this.#beginNext();
  }

  #drop(waiting: WaitingWork): void {
    this.#waiting = this.#waiting.filter((one) => one !== waiting);
    waiting.begin(false);
  }

  /** Reports whether one more piece of work may wait. If none is left, makes room at the cost of who has more. */
  #findPlace({ owner, member, isPreferred }: LimitedWork): boolean {
    const { waitingMax, waitingReserved = 0 } = this.#limits;
    const { waitingOfOwnerMax = waitingMax / 2, waitingOfMemberMax = Infinity } = this.#limits;
    const { preferredOfOwnerMax = waitingOfOwnerMax } = this.#limits;
    const ofOwner = this.#waiting.filter((waiting) => waiting.owner === owner);
    const ofMember = ofOwner.filter((waiting) => waiting.member === member).length;
    if (member !== undefined && ofMember >= waitingOfMemberMax) return false;
    // What gives way leaves the queue as long as it was, so no other owner has to.
    if (ofOwner.length >= (isPreferred ? preferredOfOwnerMax : waitingOfOwnerMax))
      return this.#makeRoom(ofOwner, (waiting) => waiting.member, ofMember);
    const others = this.#waiting.filter((waiting) => !waiting.isPreferred);
    const areOthersFull = !isPreferred && others.length >= waitingMax - waitingReserved;
    if (this.#waiting.length < waitingMax && !areOthersFull) return true;
    const waiting = isPreferred ? this.#waiting : others;
    return this.#makeRoom(waiting, (one) => one.owner, ofOwner.length);
  }

  /** Drops the newest work of the group with the most, if that has more even afterwards than `own`. */
  #makeRoom(
    waiting: readonly WaitingWork[],
    groupOf: (one: WaitingWork) => string | undefined,
    own: number,
  ): boolean {
    const countOf = (group: string | undefined) =>
      waiting.filter((one) => groupOf(one) === group).length;
    const most = Math.max(0, ...waiting.map((one) => countOf(groupOf(one))));
    if (most <= own + 1) return false;
    const dropped = waiting.findLast((one) => countOf(groupOf(one)) === most);
    if (dropped !== undefined) this.#drop(dropped);
    return true;
  }

  #usedBy(owner: string): number {
    return this.#used.get(owner) ?? 0;
  }

  #isOwnersLimit(owner: string, weight: number): boolean {
    return this.#usedBy(owner) + weight > this.#limits.perOwner;
  }

  #isFree({ owner, weight, isPreferred }: LimitedWork): boolean {
    const { capacity, capacityReserved = 0 } = this.#limits;
    if (this.#isOwnersLimit(owner, weight) || this.#total + weight > capacity) return false;
    const others = this.#total - this.#preferredTotal;
    return isPreferred || others + weight <= capacity - capacityReserved;
  }

  #take({ owner, weight, isPreferred }: LimitedWork): void {
    const used = this.#usedBy(owner) + weight;
    this.#total += weight;
    if (isPreferred) this.#preferredTotal += weight;
    if (used === 0) this.#used.delete(owner);
    else this.#used.set(owner, used);
  }

  /** Returns the work to start next: the oldest that fits, of the owner with the least running work, preferred first. */
  #next(): WaitingWork | undefined {
    const isBefore = (one: WaitingWork, other: WaitingWork) =>
      one.isPreferred === other.isPreferred
        ? this.#usedBy(one.owner) < this.#usedBy(other.owner)
        : one.isPreferred;
    return this.#waiting
      .filter(({ owner, weight }) => !this.#isOwnersLimit(owner, weight))
      .reduce<WaitingWork | undefined>(
        (best, one) => (best === undefined || isBefore(one, best) ? one : best),
        undefined,
      );
  }

  /** Starts the next work. Lighter work doesn't overtake a heavy one, which otherwise might never start. */
  #beginNext(): void {
    for (let isFree = true; isFree;) {
      const next = this.#next();
      isFree = next !== undefined && this.#isFree(next);
      if (next === undefined || !isFree) return;
      this.#waiting = this.#waiting.filter((one) => one !== next);
      this.#take(next);
      next.begin(true);
    }
  }
}
