import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { Contest } from "../../src/shared/partition/contest.ts";

const TRANSACTION_MS = 10;
/** The shortest time for which others come first. */
const SLOT_MS = 8;

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] });
});
afterEach(() => {
  vi.useRealTimers();
});

/** Returns how long it waits until the contest lets it write. */
async function waitFor(contest: Contest): Promise<number> {
  const from = performance.now();
  const ends: number[] = [];
  const waiting = contest.untilOurs().then(() => ends.push(performance.now()));
  await vi.advanceTimersByTimeAsync(0);
  while (ends.length === 0) await vi.advanceTimersByTimeAsync(1);
  await waiting;
  return performance.now() - from;
}

test("a process whose callers come back one after the other leaves the wallet to others after its turn", async () => {
  let reads = 0;
  const contest = new Contest(async () => {
    reads += 1;
    // Another process writes now and then.
    const writer = { by: "other", forMs: 0 };
    return { accessVersion: "", writer, etag: `${reads}`, rows: new Map() };
  });
  const pauses: number[] = [];
  contest.lost();
  while (performance.now() < 1_000) {
    // Its queue was empty: all callers had their answers.
    contest.begin();
    pauses.push(await waitFor(contest));
    contest.lease(1, 0);
    await vi.advanceTimersByTimeAsync(TRANSACTION_MS);
    contest.won(TRANSACTION_MS);
  }
  expect(pauses.filter((ms) => ms >= SLOT_MS).length).toBeGreaterThanOrEqual(4);
});
