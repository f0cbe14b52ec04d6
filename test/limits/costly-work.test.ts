import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { CostlyWork, knownUser, strangerFrom, type Asker } from "../../src/shared/limits/limits.ts";
import { PATIENCE_MS } from "../setup/bounds.ts";

/** Costly work that ends when a test says so. */
function works() {
  const refusals: string[] = [];
  const costlyWork = new CostlyWork((kind) => void refusals.push(kind));
  const begun: string[] = [];
  const ends = new Map<string, () => void>();
  const outcomes = new Map<string, string>();
  const settle = async () => {
    for (let turn = 0; turn < 20; turn += 1) await Promise.resolve();
  };
  return {
    begun,
    outcomes,
    refusals,
    async start(name: string, asker: Asker) {
      const running = costlyWork.run(asker, () => {
        begun.push(name);
        return new Promise<void>((resolve) => ends.set(name, resolve));
      });
      void running.then(
        () => outcomes.set(name, "done"),
        (error: unknown) => {
          expect(error).toMatchObject({ code: "service_unavailable", retryAfterSeconds: 5 });
          outcomes.set(name, "refused");
        },
      );
      await settle();
    },
    async end(name: string) {
      ends.get(name)?.();
      await settle();
    },
  };
}

const network = (index: number) => strangerFrom(`198.51.${index}.7`);

beforeEach(() => void vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] }));
afterEach(() => void vi.useRealTimers());

describe("costly work", () => {
  test("is in the process for three callers of a network, of which one runs", async () => {
    const at = works();
    for (const [index, host] of [1, 2, 3, 4, 5].entries())
      await at.start(`v4-${index}`, strangerFrom(`192.0.2.${host}`));
    for (const index of [0, 1, 2, 3])
      await at.start(`v6-${index}`, strangerFrom(`2001:db8:1:${index}::1`));
    expect(at.begun).toEqual(["v4-0"]);
    expect([...at.outcomes]).toEqual([
      ["v4-3", "refused"],
      ["v4-4", "refused"],
      ["v6-2", "refused"],
      ["v6-3", "refused"],
    ]);
    expect(at.refusals).toEqual(Array(4).fill("stranger"));
  });

  test("of strangers takes 13 of 20 places, and known callers get the others and a thread of their own", async () => {
    const at = works();
    for (let index = 0; index < 30; index += 1) await at.start(`stranger-${index}`, network(index));
    expect(at.outcomes.size).toBe(17);
    for (let index = 0; index < 8; index += 1)
      await at.start(`known-${index}`, knownUser(`plt_${index}`, "usr_1"));
    expect(at.refusals.filter((kind) => kind === "known")).toHaveLength(1);
    expect(at.begun).toEqual(["stranger-0", "known-0"]);
    await at.end("stranger-0");
    await at.end("known-0");
    expect(at.begun).toEqual(["stranger-0", "known-0", "known-1", "known-2"]);
  });

  test("of one platform's users takes seven places, however many users it has", async () => {
    const at = works();
    for (let index = 0; index < 20; index += 1)
      await at.start(`user-${index}`, knownUser("plt_hostile", `usr_${index}`));
    expect(at.outcomes.size).toBe(13);
    await at.start("another", knownUser("plt_another", "usr_a"));
    await at.start("stranger", network(1));
    expect(at.begun).toEqual(["user-0", "another"]);
    await at.end("another");
    await at.end("user-0");
    expect(at.begun).toEqual(["user-0", "another", "stranger", "user-1"]);
  });

  test("of one user takes three places, and gives way to colleagues", async () => {
    const at = works();
    for (const name of ["a", "b", "c"])
      for (let turn = 0; turn < 4; turn += 1)
        await at.start(`${name}-${turn}`, knownUser("plt_1", `usr_${name}`));
    // One of the platform runs and six wait, at most two of each user.
    expect([...at.outcomes.keys()]).toEqual(["a-3", "b-2", "b-3", "c-2", "c-3"]);
    await at.start("colleague", knownUser("plt_1", "usr_d"));
    expect(at.outcomes.get("colleague")).toBeUndefined();
    expect([...at.outcomes.keys()].at(-1)).toBe("c-1");
  });

  test("of colleagues who log in at the same time waits its turn", async () => {
    const at = works();
    for (const name of ["a", "b", "c", "d", "e"])
      await at.start(name, knownUser("plt_1", `usr_${name}`));
    for (const name of ["a", "b", "c", "d", "e"]) await at.end(name);
    expect([...at.outcomes.values()]).toEqual(Array(5).fill("done"));
  });

  test("of a few networks leaves room for a caller of another one", async () => {
    const at = works();
    for (const turn of [0, 1, 2])
      for (let index = 0; index < 5; index += 1) await at.start(`${index}-${turn}`, network(index));
    expect(at.outcomes.size).toBeGreaterThan(0);
    await at.start("another", network(99));
    expect(at.outcomes.get("another")).toBeUndefined();
    await at.end("0-0");
    await vi.waitFor(async () => {
      for (const name of at.begun) await at.end(name);
      expect(at.outcomes.get("another")).toBe("done");
    }, PATIENCE_MS);
  });

  test("that has waited for ten seconds is never done", async () => {
    const at = works();
    for (let index = 0; index < 3; index += 1) await at.start(`${index}`, network(index));
    await vi.advanceTimersByTimeAsync(9_999);
    expect(at.outcomes.size).toBe(0);
    await vi.advanceTimersByTimeAsync(1);
    expect([...at.outcomes]).toEqual([
      ["1", "refused"],
      ["2", "refused"],
    ]);
    await at.end("0");
    expect(at.begun).toEqual(["0"]);
  });
});
