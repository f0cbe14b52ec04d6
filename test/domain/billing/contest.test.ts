import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { Contest } from "../../../src/shared/core/contest.ts";
import { EMPTY_WALLET } from "../../../src/shared/core/wallet.ts";

const TRANSACTION_MS = 10;
/** The shortest time in which another process can take a wallet over. */
const HANDOVER_MS = 30;

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
  const contest = new Contest(async () => ({ wallet: EMPTY_WALLET, writer: null, etag: "1" }));
  const pauses: number[] = [];
  contest.lost();
  while (performance.now() < 1_000) {
    // Its queue was empty: all callers had their answers.
    contest.begin();
    pauses.push(await waitFor(contest));
    await vi.advanceTimersByTimeAsync(TRANSACTION_MS);
    contest.won(TRANSACTION_MS);
  }
  expect(pauses.filter((ms) => ms >= HANDOVER_MS).length).toBeGreaterThanOrEqual(4);
});
