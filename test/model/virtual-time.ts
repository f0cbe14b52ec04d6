import nodeCrypto from "node:crypto";
import { syncBuiltinESMExports } from "node:module";
import timersPromises from "node:timers/promises";
import type { Random } from "./random.ts";

interface Timer {
  readonly id: number;
  at: number;
  readonly everyMs: number | undefined;
  readonly run: () => void;
}

const realSetImmediate = globalThis.setImmediate;
const SAFE_EVENTS_MAX = 2_000_000;

/** Everything that waits on promises alone has gone as far as it can when this comes back. */
const settled = () => new Promise<void>((resolve) => realSetImmediate(() => resolve()));

/** A time of its own, which goes on only when nothing is left to do in the present. */
export class VirtualTime {
  #now: number;
  #lastId = 0;
  #events = 0;
  /** Sorted by time, and by age within one moment. */
  readonly #timers: Timer[] = [];

  constructor(start: number) {
    this.#now = start;
  }

  get now(): number {
    return this.#now;
  }

  /** Nothing happens for so long; timers that come in that time come once, at its end. */
  leap(ms: number): void {
    this.#now += ms;
  }

  set(run: () => void, ms: number, everyMs?: number): number {
    this.#lastId += 1;
    this.#insert({ id: this.#lastId, at: this.#now + Math.max(0, Math.ceil(ms)), everyMs, run });
    return this.#lastId;
  }

  clear(id: number): void {
    const index = this.#timers.findIndex((timer) => timer.id === id);
    if (index >= 0) this.#timers.splice(index, 1);
  }

  wait(ms: number): Promise<void> {
    return new Promise((resolve) => void this.set(resolve, ms));
  }

  #insert(timer: Timer): void {
    let low = 0;
    let high = this.#timers.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#timers[middle]?.at ?? 0) <= timer.at) low = middle + 1;
      else high = middle;
    }
    this.#timers.splice(low, 0, timer);
  }

  /** Lets time pass until that moment, or until it is done; answers whether it is. */
  async pass(until: number, isDone: () => boolean = () => false): Promise<boolean> {
    for (;;) {
      await settled();
      if (isDone()) return true;
      const next = this.#timers[0];
      if (next === undefined || next.at > until) {
        this.#now = Math.max(this.#now, until);
        return isDone();
      }
      this.#now = Math.max(this.#now, next.at);
      this.#runPresent();
    }
  }

  #runPresent(): void {
    for (let next = this.#timers[0]; next !== undefined && next.at <= this.#now;) {
      this.#events += 1;
      if (this.#events > SAFE_EVENTS_MAX) throw new Error("the simulation does not come to an end");
      this.#timers.shift();
      if (next.everyMs !== undefined) {
        next.at = this.#now + Math.max(1, next.everyMs);
        this.#insert(next);
      }
      next.run();
      next = this.#timers[0];
    }
  }
}

type Patch = readonly [target: object, name: string, value: unknown];

const deadlines = new WeakMap<AbortSignal, number>();

/** When the caller that waits for a call with this signal gives it up; never for a signal of another kind. */
export function deadlineOf(signal: AbortSignal | undefined): number {
  return signal === undefined ? Infinity : (deadlines.get(signal) ?? Infinity);
}

let last: { readonly signal: AbortSignal; readonly deadline: number } | undefined;

/** Calls with one deadline share a signal, which never fires. */
function limited(deadline: number): AbortSignal {
  if (last?.deadline === deadline) return last.signal;
  const { signal } = new AbortController();
  deadlines.set(signal, deadline);
  last = { signal, deadline };
  return signal;
}

/** Timers, clocks and chance of the whole process, as the code under test reaches for them. */
function patchesOf(time: VirtualTime, random: Random): Patch[] {
  const handle = (id: number) => ({ id, ref: () => handle(id), unref: () => handle(id) });
  const clear = (timer: unknown) => {
    if (typeof timer === "object" && timer !== null && "id" in timer) time.clear(Number(timer.id));
  };
  const bytes = (size: number) => {
    const filled = Buffer.alloc(size);
    random.fill(filled);
    return filled;
  };
  const uuid = () =>
    bytes(16)
      .toString("hex")
      .replace(/^(.{8})(.{4}).(.{3}).(.{3})(.{12})$/, "$1-$2-4$3-8$4-$5");
  const getRandomValues = (array: Uint8Array) => {
    random.fill(array);
    return array;
  };
  return [
    [globalThis, "setTimeout", (run: () => void, ms = 0) => handle(time.set(run, ms))],
    [globalThis, "setInterval", (run: () => void, ms = 0) => handle(time.set(run, ms, ms))],
    [globalThis, "clearTimeout", clear],
    [globalThis, "clearInterval", clear],
    [timersPromises, "setTimeout", (ms: number) => time.wait(ms)],
    [Date, "now", () => time.now],
    [performance, "now", () => time.now],
    [Math, "random", () => random.next()],
    [nodeCrypto, "randomUUID", uuid],
    [nodeCrypto, "randomBytes", bytes],
    [globalThis.crypto, "getRandomValues", getRandomValues],
    // Never fires: a timer for each call would be most of all timers. The models look at the deadline themselves.
    [AbortSignal, "timeout", (ms: number) => limited(time.now + ms)],
  ];
}

function apply(patches: readonly Patch[]): Patch[] {
  const before = patches.map(([target, name]): Patch => [target, name, Reflect.get(target, name)]);
  for (const [target, name, value] of patches)
    Object.defineProperty(target, name, { value, configurable: true, writable: true });
  // So that what was imported by name follows.
  syncBuiltinESMExports();
  return before;
}

/** Runs with this time and chance in the place of the machine's own. Two at once are not possible. */
export async function inVirtualTime<T>(
  time: VirtualTime,
  random: Random,
  run: () => Promise<T>,
): Promise<T> {
  const before = apply(patchesOf(time, random));
  try {
    return await run();
  } finally {
    apply(before);
  }
}
