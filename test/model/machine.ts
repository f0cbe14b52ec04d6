import type { PartitionLoad } from "./partition-load.ts";
import type { Random } from "./random.ts";
import type { VirtualTime } from "./virtual-time.ts";
import { FAIR, noCounts, type Counts, type Rates, type WriteFault } from "./weather.ts";

/** What all processes of a run share. */
export interface Nature {
  readonly time: VirtualTime;
  readonly random: Random;
  readonly counts: Counts;
  /** What a partition has done in this second, where a run has the service's limit of it. */
  readonly load?: PartitionLoad;
  /** Whether the first page of a query over partitions is always empty, as it may be for good. */
  isEmptyFirst?: boolean;
  /** Changes in the course of a run. */
  rates: Rates;
}

export function natureOf(time: VirtualTime, random: Random): Nature {
  return { time, random, counts: noCounts(), rates: FAIR };
}

/** A call to a table, as a test that chooses its fate sees it. */
export interface FatedCall {
  readonly table: string;
  readonly method: "GET" | "POST";
  readonly rowKeys: readonly string[];
}

const HOP_MS_MAX = 12;
/** Longer than anybody waits for storage. */
const SLOW_MS_MAX = 14_000;
/** A call that its dead sender had on the wire is over by then. */
const WIRE_MS_MAX = 15_000;

const never = <T>() => new Promise<T>(() => undefined);

/** What a caller gets that gave its call up, in the words of the client libraries. */
function givenUp(): Error {
  return Object.assign(new Error("The operation was aborted."), { name: "AbortError" });
}

/** A process as the world sees it: everything it says goes through `call`, until it dies. */
export class Machine {
  readonly name: string;
  readonly nature: Nature;
  readonly died: Promise<"died">;
  readonly #die: () => void;
  /** What becomes of a call to a table, where a test chooses it. */
  fate: ((call: FatedCall) => WriteFault | undefined) | undefined;
  /** What a write to a table waits for before it arrives, where a test holds it back. */
  hold: ((call: FatedCall) => Promise<void> | undefined) | undefined;
  /** The number of the call that it will not live to see answered. */
  crashAt = Infinity;
  calls = 0;
  isDead = false;
  #frozenUntil = 0;
  #freezeAt = Infinity;
  #freezeMs = 0;

  constructor(name: string, nature: Nature) {
    this.name = name;
    this.nature = nature;
    const { promise, resolve } = Promise.withResolvers<"died">();
    this.died = promise;
    this.#die = () => resolve("died");
  }

  #hopMs(): number {
    const { random, rates } = this.nature;
    return random.chance(rates.slow) ? random.below(SLOW_MS_MAX) : random.between(1, HOP_MS_MAX);
  }

  #standStill(): void {
    const { random, rates, counts, time } = this.nature;
    const isFrozen = this.calls >= this.#freezeAt;
    if (!isFrozen && !random.chance(rates.stall)) return;
    counts.stalls += 1;
    this.#frozenUntil = time.now + (isFrozen ? this.#freezeMs : random.between(...rates.stallMs));
    if (isFrozen) this.#freezeAt = Infinity;
  }

  /**
   * Sends something and waits for the answer, until that time at most. `reach` is what it does where it arrives, which it
   * may do after its sender gave it up.
   */
  async call<T>(reach: () => T, until = Infinity): Promise<T> {
    if (this.isDead) return never();
    this.calls += 1;
    if (this.calls >= this.crashAt) return this.#crash(reach);
    const { time } = this.nature;
    const hopMs = this.#hopMs();
    if (time.now + hopMs > until) {
      time.set(() => quietly(reach), hopMs);
      return this.#giveUp(until);
    }
    await time.wait(hopMs);
    let answer: { readonly value: T } | { readonly error: unknown };
    try {
      answer = { value: reach() };
    } catch (error) {
      answer = { error };
    }
    this.#standStill();
    const answerMs = Math.max(this.#hopMs(), this.#frozenUntil - time.now);
    if (time.now + answerMs > until) return this.#giveUp(until);
    await time.wait(answerMs);
    // Dead meanwhile: what waited for the answer is gone with its process.
    if (this.isDead) return never();
    if ("error" in answer) throw answer.error;
    return answer.value;
  }

  /** The end of a call's time, which a process that pauses notices once it goes on. */
  async #giveUp(until: number): Promise<never> {
    const { time, counts } = this.nature;
    await time.wait(Math.max(until, this.#frozenUntil) - time.now);
    if (this.isDead) return never();
    counts.timeouts += 1;
    throw givenUp();
  }

  /** The end of the process, with its last call lost, arrived or still on its way. */
  #crash<T>(reach: () => T): Promise<T> {
    const { random, time } = this.nature;
    const arrival = random.pick(["lost", "arrived", "late"]);
    if (arrival !== "lost")
      time.set(() => quietly(reach), arrival === "late" ? random.below(WIRE_MS_MAX) : 0);
    this.kill();
    return never();
  }

  /** Whether it has paused at that time or since. */
  hasStoodStill(since: number): boolean {
    return this.#frozenUntil > since;
  }

  /** Lives on for so many calls at most. */
  doom(calls: number): void {
    this.crashAt = Math.min(this.crashAt, this.calls + calls);
  }

  /** Pauses for so long, so many calls from now. */
  freeze(calls: number, ms: number): void {
    this.#freezeAt = this.calls + calls;
    this.#freezeMs = ms;
  }

  kill(): void {
    if (this.isDead) return;
    this.isDead = true;
    this.nature.counts.crashes += 1;
    this.#die();
  }
}

/** For what happens without anybody to hear about it. */
export function quietly(run: () => unknown): void {
  try {
    run();
  } catch {
    // Nobody is told.
  }
}
