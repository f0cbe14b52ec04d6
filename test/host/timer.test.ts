import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { TimerListener } from "../../dev/host/timer-listener.ts";
import { parseSchedule } from "../../dev/host/timer-schedule.ts";
import type { TimerStatus, TimerStatusStore } from "../../dev/host/timer-status-store.ts";
import { startHostProcess, until } from "./host-process.ts";
import type { HostProcess } from "./host-process.ts";

interface TimerRun {
  readonly timer: {
    readonly isPastDue: boolean;
    readonly schedule: { readonly adjustForDST: boolean };
    readonly scheduleStatus: { last: string; next: string; lastUpdated: string } | null;
  };
  readonly running: number;
  readonly at: number;
}

async function runs(host: HostProcess): Promise<TimerRun[]> {
  return ((await (await fetch(`${host.url}/state`)).json()) as { timerRuns: TimerRun[] }).timerRuns;
}

async function runsOf(host: HostProcess, minimum: number): Promise<TimerRun[]> {
  return until(async () => {
    const seen = await runs(host);
    return seen.length >= minimum ? seen : undefined;
  });
}

describe("a timer function of the local host", () => {
  test("runs at each time of its schedule, which a setting may hold", async () => {
    const host = await startHostProcess({ env: { TICK_SCHEDULE: "* * * * * *" } });
    const seen = await runsOf(host, 3);
    for (const { timer } of seen)
      expect(timer).toEqual({
        isPastDue: false,
        schedule: { adjustForDST: true },
        scheduleStatus: null,
      });
    const seconds = seen.map(({ at }) => Math.floor(at / 1_000));
    expect(new Set(seconds).size).toBe(seconds.length);
  });

  test("that outlives its interval is never run twice at a time", async () => {
    const host = await startHostProcess({
      env: { TICK_SCHEDULE: "00:00:00.1", FIXTURE_RUN_MS: "400" },
    });
    const seen = await runsOf(host, 4);
    expect(seen.map(({ running }) => running)).toEqual(seen.map(() => 1));
    for (const [index, { at }] of seen.entries())
      expect(at - (seen[index - 1]?.at ?? -Infinity)).toBeGreaterThanOrEqual(390);
  });

  test("is run by one of two hosts, and by the other one soon after the first was killed", async () => {
    const LOCAL_FOLDER = await mkdtemp(join(tmpdir(), "timers-"));
    onTestFinished(() => rm(LOCAL_FOLDER, { recursive: true, force: true }));
    const env = { TICK_SCHEDULE: "00:00:00.2", LOCAL_FOLDER };
    const first = await startHostProcess({ env });
    const second = await startHostProcess({ env });
    await runsOf(first, 3);
    expect(await runs(second)).toEqual([]);
    first.signal("SIGKILL");
    await runsOf(second, 1);
  });

  test("that throws is logged and run at its next time", async () => {
    const host = await startHostProcess({
      env: { TICK_SCHEDULE: "00:00:00.2", TICK_FAILS: "yes" },
    });
    await runsOf(host, 3);
    expect(host.output()).toContain("Error: the tick fails");
  });
});

/** A listener with a store in memory, at a time the test sets. */
function listener(
  schedule: string,
  stored: TimerStatus | undefined,
  { runOnStartup = false } = {},
) {
  const written: TimerStatus[] = [];
  const invoked: { IsPastDue: boolean; ScheduleStatus: Record<string, string> | null }[] = [];
  const store: TimerStatusStore = {
    read: () => Promise.resolve(stored),
    write: (_name, status) => {
      written.push(status);
      return Promise.resolve();
    },
  };
  const timer = new TimerListener({
    functionName: "tick",
    schedule: parseSchedule(schedule),
    runOnStartup,
    useMonitor: true,
    store,
    lock: { take: () => Promise.resolve(true), release: () => Promise.resolve() },
    log: { write: () => undefined },
    invoke: ({ input }) => {
      invoked.push(JSON.parse(input.json ?? "") as (typeof invoked)[number]);
      return Promise.resolve({ succeeded: true, response: {} });
    },
  });
  return { timer, written, invoked };
}

const HOUR_MS = 3_600_000;

function at(text: string): Date {
  return new Date(`2024-03-01T${text}Z`);
}

describe("a timer whose status is kept", () => {
  async function withClock(now: Date, run: () => Promise<void>): Promise<void> {
    vi.useFakeTimers({ now });
    try {
      await run();
    } finally {
      vi.useRealTimers();
    }
  }

  test("starts with its first due time written down and waits for it", () =>
    withClock(at("10:20:00"), async () => {
      const { timer, written, invoked } = listener("0 0 * * * *", undefined);
      await timer.start();
      expect(written).toEqual([
        { last: undefined, next: at("11:00:00"), lastUpdated: at("10:20:00") },
      ]);
      await vi.advanceTimersByTimeAsync(HOUR_MS);
      expect(invoked).toEqual([
        {
          IsPastDue: false,
          Schedule: { AdjustForDST: true },
          ScheduleStatus: {
            Last: "0001-01-01T00:00:00+00:00",
            Next: "2024-03-01T11:00:00+00:00",
            LastUpdated: "0001-01-01T00:00:00+00:00",
          },
        },
      ]);
      expect(written.at(-1)).toEqual({
        last: at("11:00:00"),
        next: at("12:00:00"),
        lastUpdated: at("11:00:00"),
      });
      await timer.stop();
    }));

  test("makes up for all the times it missed with one run, past due", () =>
    withClock(at("15:30:00"), async () => {
      const { timer, invoked } = listener("0 0 * * * *", {
        last: at("10:00:00"),
        next: at("11:00:00"),
        lastUpdated: at("10:00:00"),
      });
      await timer.start();
      await vi.advanceTimersByTimeAsync(1_000);
      expect(invoked.map(({ IsPastDue }) => IsPastDue)).toEqual([true]);
      await vi.advanceTimersByTimeAsync(HOUR_MS / 2);
      expect(invoked.map(({ IsPastDue }) => IsPastDue)).toEqual([true, false]);
      await timer.stop();
    }));

  test("whose schedule was changed forgets when it was due before", () =>
    withClock(at("15:30:00"), async () => {
      const { timer, written, invoked } = listener("0 0 20 * * *", {
        last: at("10:00:00"),
        next: at("11:00:00"),
        lastUpdated: at("10:00:00"),
      });
      await timer.start();
      await vi.advanceTimersByTimeAsync(1_000);
      expect(invoked).toEqual([]);
      expect(written.at(-1)?.next).toEqual(at("20:00:00"));
      await timer.stop();
    }));

  test("runs at once where runOnStartup says so", () =>
    withClock(at("15:30:00"), async () => {
      const { timer, invoked } = listener("0 0 * * * *", undefined, { runOnStartup: true });
      await timer.start();
      await vi.advanceTimersByTimeAsync(10);
      expect(invoked.map(({ IsPastDue }) => IsPastDue)).toEqual([false]);
      await timer.stop();
    }));

  test("waits longer than a timer of the runtime can", () =>
    withClock(at("00:00:00"), async () => {
      const { timer, invoked } = listener("0 0 0 1 5 *", undefined);
      await timer.start();
      await vi.advanceTimersByTimeAsync(60 * 24 * HOUR_MS);
      expect(invoked).toEqual([]);
      await vi.advanceTimersByTimeAsync(2 * 24 * HOUR_MS);
      expect(invoked).toHaveLength(1);
      await timer.stop();
    }));

  test("does not run after it was stopped", () =>
    withClock(at("10:20:00"), async () => {
      const { timer, invoked } = listener("0 0 * * * *", undefined);
      await timer.start();
      await timer.stop();
      await vi.advanceTimersByTimeAsync(2 * HOUR_MS);
      expect(invoked).toEqual([]);
    }));
});
