import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import type { TimerFiles, TimerStatus } from "../../../tools/host/timer-files.ts";
import { TimerListener } from "../../../tools/host/timer-listener.ts";
import { parseSchedule } from "../../../tools/host/timer-schedule.ts";
import { startHostProcess, until } from "./host-process.ts";
import type { HostProcess } from "./host-process.ts";

interface TimerRun {
  readonly timer: { readonly isPastDue: boolean; readonly scheduleStatus: object | null };
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
  test("runs at each time of its schedule, whether it fails or not", async () => {
    const host = await startHostProcess({ env: { TICK_SCHEDULE: "*/1 * * * * *" } });
    const seen = await runsOf(host, 3);
    for (const { timer } of seen)
      expect(timer).toMatchObject({ isPastDue: false, scheduleStatus: null });
    const seconds = seen.map(({ at }) => Math.floor(at / 1_000));
    expect(new Set(seconds).size).toBe(seconds.length);
    expect(host.output()).toContain("Error: the tick fails");
  });

  test("a timer function of the local host is run by one of two hosts, and by the other one soon after the first was killed", async () => {
    const LOCAL_FOLDER = await mkdtemp(join(tmpdir(), "timers-"));
    onTestFinished(() => rm(LOCAL_FOLDER, { recursive: true, force: true }));
    const env = { TICK_SCHEDULE: "*/1 * * * * *", LOCAL_FOLDER };
    const first = await startHostProcess({ env });
    await runsOf(first, 1);
    const second = await startHostProcess({ env });
    await runsOf(first, (await runs(first)).length + 2);
    expect(await runs(second)).toEqual([]);
    first.signal("SIGKILL");
    await runsOf(second, 1);
  });
});

/** Starts a listener with a store in memory, at a time that the test sets. */
function start(schedule: string, stored: TimerStatus | undefined, runMs = 0) {
  const written: TimerStatus[] = [];
  const invoked: { IsPastDue: boolean; ScheduleStatus: Record<string, string> | null }[] = [];
  const files: TimerFiles = {
    take: () => Promise.resolve(true),
    release: () => Promise.resolve(),
    readStatus: () => Promise.resolve(written.at(-1) ?? stored),
    writeStatus: (status) => {
      written.push(status);
      return Promise.resolve();
    },
  };
  const timer = new TimerListener({
    functionName: "tick",
    schedule: parseSchedule(schedule),
    files,
    log: { write: () => undefined },
    invoke: ({ input }) => {
      invoked.push(JSON.parse(input.json ?? "") as (typeof invoked)[number]);
      return new Promise((resolve) => {
        setTimeout(resolve, runMs);
      });
    },
  });
  timer.start();
  return { timer, written, invoked };
}

const MINUTE_MS = 60_000;

function at(text: string): Date {
  return new Date(`2024-03-01T${text}Z`);
}

describe("a timer", () => {
  async function withClock(now: Date, run: () => Promise<void>): Promise<void> {
    vi.useFakeTimers({ now, toFake: ["Date", "setTimeout", "clearTimeout"] });
    try {
      await run();
    } finally {
      vi.useRealTimers();
    }
  }

  test("a timer of each minute has its status kept", () =>
    withClock(at("10:20:30"), async () => {
      const { timer, written, invoked } = start("0 * * * * *", undefined);
      await vi.advanceTimersByTimeAsync(MINUTE_MS);
      expect(invoked).toEqual([
        {
          IsPastDue: false,
          Schedule: { AdjustForDST: true },
          ScheduleStatus: {
            Last: "0001-01-01T00:00:00+00:00",
            Next: "2024-03-01T10:21:00+00:00",
            LastUpdated: "0001-01-01T00:00:00+00:00",
          },
        },
      ]);
      expect(written).toEqual([{ last: at("10:21:00"), next: at("10:22:00") }]);
      await timer.stop();
      await vi.advanceTimersByTimeAsync(5 * MINUTE_MS);
      expect(invoked).toHaveLength(1);
    }));

  test("makes up for all the times it missed with one run, past due", () =>
    withClock(at("15:30:30"), async () => {
      const { timer, invoked } = start("0 * * * * *", {
        last: at("10:00:00"),
        next: at("10:01:00"),
      });
      await vi.advanceTimersByTimeAsync(1_000);
      expect(invoked.map(({ IsPastDue }) => IsPastDue)).toEqual([true]);
      await vi.advanceTimersByTimeAsync(MINUTE_MS);
      expect(invoked.map(({ IsPastDue }) => IsPastDue)).toEqual([true, false]);
      await timer.stop();
    }));

  test("a timer that outlives its interval is never run twice at a time", () =>
    withClock(at("10:20:00"), async () => {
      const { timer, invoked } = start("*/1 * * * * *", undefined, 2_500);
      await vi.advanceTimersByTimeAsync(3_400);
      expect(invoked).toHaveLength(1);
      await vi.advanceTimersByTimeAsync(200);
      expect(invoked.map(({ IsPastDue }) => IsPastDue)).toEqual([false, false]);
      await vi.advanceTimersByTimeAsync(10_000);
      await Promise.all([timer.stop(), vi.advanceTimersByTimeAsync(5_000)]);
    }));
});

describe("a schedule", () => {
  test.each([
    ["0 * * * * *", "10:20:30.500", "10:21:00"],
    ["0 * * * * *", "10:20:00", "10:21:00"],
    ["0 * * * * *", "23:59:59.999", "24:00:00"],
    ["*/1 * * * * *", "10:20:30.500", "10:20:31"],
    ["*/15 * * * * *", "10:20:30", "10:20:45"],
    ["*/25 * * * * *", "10:20:51", "10:21:00"],
  ])("%s comes after %s at %s", (expression, now, next) => {
    expect(parseSchedule(expression).next(at(now))).toEqual(at(next));
  });

  test.each(["* * * * *", "0 0 3 * * *", "*/0 * * * * *", "*/61 * * * * *", "00:00:10"])(
    "%s is refused",
    (expression) => {
      expect(() => parseSchedule(expression)).toThrow("the local host has no schedule");
    },
  );
});
