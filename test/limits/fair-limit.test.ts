import { describe, expect, test, vi } from "vitest";
import { FairLimit } from "../../src/shared/runtime/fair-limit.ts";

/** Work that goes on until it is ended, and tells that it began. */
function works(slots: FairLimit) {
  const begun: string[] = [];
  const ends = new Map<string, () => void>();
  return {
    begun,
    async start(name: string, owner: string, weight = 1) {
      const { promise, resolve } = Promise.withResolvers<void>();
      ends.set(name, resolve);
      const running = slots.run(owner, weight, async () => {
        begun.push(name);
        await promise;
        return name;
      });
      // Everything that can begin has begun.
      await new Promise((done) => setImmediate(done));
      return { running };
    },
    async end(name: string) {
      ends.get(name)?.();
      await new Promise((done) => setImmediate(done));
    },
  };
}

describe("slots", () => {
  test("leave room for others when one owner has as much as it may", async () => {
    const at = works(new FairLimit({ capacity: 4, perOwner: 3, waitingMax: 8 }));
    for (const name of ["a1", "a2", "a3", "a4"]) await at.start(name, "a");
    await at.start("b1", "b");
    expect(at.begun).toEqual(["a1", "a2", "a3", "b1"]);
    await at.end("a1");
    expect(at.begun).toEqual(["a1", "a2", "a3", "b1", "a4"]);
  });

  test("go to the owner with the least in hand, and then to whom came first", async () => {
    const at = works(new FairLimit({ capacity: 2, perOwner: 2, waitingMax: 8 }));
    for (const name of ["a1", "a2", "a3", "a4"]) await at.start(name, "a");
    await at.start("b1", "b");
    await at.end("a1");
    expect(at.begun).toEqual(["a1", "a2", "b1"]);
    await at.end("b1");
    await at.end("a2");
    expect(at.begun).toEqual(["a1", "a2", "b1", "a3", "a4"]);
  });

  test("let an owner's light work pass its own heavy work, which has to wait", async () => {
    const at = works(new FairLimit({ capacity: 4, perOwner: 3, waitingMax: 8 }));
    await at.start("heavy", "a", 2);
    await at.start("second", "a", 2);
    await at.start("light", "a", 1);
    expect(at.begun).toEqual(["heavy", "light"]);
    await at.end("heavy");
    expect(at.begun).toEqual(["heavy", "light", "second"]);
  });

  test("slots are kept free for heavy work that is next, whatever light work comes behind it", async () => {
    const at = works(new FairLimit({ capacity: 3, perOwner: 2, waitingMax: 8 }));
    await at.start("a1", "a");
    await at.start("b1", "b");
    await at.start("heavy", "c", 2);
    await at.start("d1", "d");
    expect(at.begun).toEqual(["a1", "b1"]);
    await at.end("a1");
    expect(at.begun).toEqual(["a1", "b1", "heavy"]);
    await at.end("b1");
    expect(at.begun).toEqual(["a1", "b1", "heavy", "d1"]);
  });

  test("refuse at once what would wait too long, and one owner before others", async () => {
    const at = works(new FairLimit({ capacity: 1, perOwner: 1, waitingMax: 4 }));
    for (const name of ["a1", "a2", "a3"]) await at.start(name, "a");
    const { running: refused } = await at.start("a4", "a");
    expect(await refused).toBeUndefined();
    await at.start("b1", "b");
    for (const name of ["a1", "a2", "a3"]) await at.end(name);
    expect(at.begun).toEqual(["a1", "a2", "a3", "b1"]);
  });

  test("refuse no owner because two others wait for all of them", async () => {
    const at = works(new FairLimit({ capacity: 1, perOwner: 1, waitingMax: 4 }));
    await at.start("a0", "a");
    for (const name of ["a1", "a2"]) await at.start(name, "a");
    await at.start("b1", "b");
    const { running: dropped } = await at.start("b2", "b");
    await at.start("c1", "c");
    expect(await dropped).toBeUndefined();
    const { running: refused } = await at.start("b3", "b");
    expect(await refused).toBeUndefined();
    for (const name of ["a0", "a1", "b1", "c1", "a2"]) await at.end(name);
    expect(at.begun.toSorted()).toEqual(["a0", "a1", "a2", "b1", "c1"]);
  });

  test("slots are not waited for for more than a minute", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    const at = works(new FairLimit({ capacity: 1, perOwner: 1, waitingMax: 4 }));
    await at.start("a1", "a");
    const { running: late } = await at.start("b1", "b");
    await vi.advanceTimersByTimeAsync(60_000);
    expect(await late).toBeUndefined();
    await at.start("c1", "c");
    await at.end("a1");
    expect(at.begun).toEqual(["a1", "c1"]);
    vi.useRealTimers();
  });

  test("slots are given back by what fails", async () => {
    const slots = new FairLimit({ capacity: 1, perOwner: 1, waitingMax: 4 });
    const failing = slots.run("a", 1, () => Promise.reject(new Error("no")));
    const next = slots.run("b", 1, () => Promise.resolve("went on"));
    await expect(failing).rejects.toThrow("no");
    expect((await next)?.result).toBe("went on");
  });

  test("take what is heavier than an owner may have, as if it were just that", async () => {
    const slots = new FairLimit({ capacity: 4, perOwner: 3, waitingMax: 4 });
    expect((await slots.run("a", 100, () => Promise.resolve("done")))?.result).toBe("done");
  });
});
