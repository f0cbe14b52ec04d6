import { setTimeout as wait } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { SharedReads } from "../../../src/shared/runtime/storage/shared-reads.ts";

/** A store of one number whose reads take a look when they begin and answer when they are told to. */
class SlowNumber {
  value = 0;
  readonly #ends: (() => void)[] = [];

  get readings(): number {
    return this.#ends.length;
  }

  read = async (): Promise<number> => {
    const seen = this.value;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#ends.push(resolve);
    await promise;
    return seen;
  };

  end(reading: number): void {
    this.#ends[reading]?.();
  }
}

describe("shared reads", () => {
  test("a call alone reads at once", async () => {
    const number = new SlowNumber();
    const reads = new SharedReads();
    const answer = reads.read("a", number.read);
    expect(number.readings).toBe(1);
    number.end(0);
    expect(await answer).toBe(0);
  });

  test("calls that arrive during a read share the next one, and see what was written before them", async () => {
    const number = new SlowNumber();
    const reads = new SharedReads();
    const first = reads.read("a", number.read);
    number.value = 1;
    const later = [1, 2, 3].map(() => reads.read("a", number.read));
    expect(number.readings).toBe(1);
    number.end(0);
    expect(await first).toBe(0);
    await expect.poll(() => number.readings).toBe(2);
    number.end(1);
    expect(await Promise.all(later)).toEqual([1, 1, 1]);
    expect(number.readings).toBe(2);
  });

  test("a read that is under way when a write ends is not given to who asks after the write", async () => {
    const number = new SlowNumber();
    const reads = new SharedReads();
    const before = reads.read("a", number.read);
    number.value = 7;
    const after = reads.read("a", number.read);
    number.end(0);
    expect(await before).toBe(0);
    await expect.poll(() => number.readings).toBe(2);
    number.end(1);
    expect(await after).toBe(7);
  });

  test("other keys are read on their own", () => {
    const number = new SlowNumber();
    const reads = new SharedReads();
    void reads.read("a", number.read);
    void reads.read("b", number.read);
    expect(number.readings).toBe(2);
  });

  test("a failure is told to those who share it, and the next call reads again", async () => {
    const reads = new SharedReads();
    let calls = 0;
    const read = async (): Promise<number> => {
      calls += 1;
      await wait(1);
      if (calls < 3) throw new Error(`failure ${calls}`);
      return calls;
    };
    const answers = await Promise.allSettled([1, 2, 3].map(() => reads.read("a", read)));
    expect(answers.map(({ status }) => status)).toEqual(["rejected", "rejected", "rejected"]);
    expect(calls).toBe(2);
    expect(await reads.read("a", read)).toBe(3);
  });

  test("a read that stalls holds up nobody for longer than a moment", async () => {
    const number = new SlowNumber();
    const reads = new SharedReads();
    const stalled = reads.read("a", number.read);
    const next = reads.read("a", number.read);
    await expect.poll(() => number.readings).toBe(2);
    number.end(1);
    expect(await next).toBe(0);
    number.end(0);
    expect(await stalled).toBe(0);
    const last = reads.read("a", number.read);
    await expect.poll(() => number.readings).toBe(3);
    number.end(2);
    expect(await last).toBe(0);
  });
});
