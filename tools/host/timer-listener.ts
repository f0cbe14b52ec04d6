import { errorText } from "./host-log.ts";
import type { HostLog } from "./host-log.ts";
import type { TriggerData } from "./invocation.ts";
import { pause } from "./pause.ts";
import { dotNetTime } from "./queue-processor.ts";
import type { TimerFiles, TimerStatus } from "./timer-files.ts";
import type { TimerSchedule } from "./timer-schedule.ts";

const NEVER = "0001-01-01T00:00:00+00:00";

export interface TimerListenerOptions {
  readonly functionName: string;
  readonly schedule: TimerSchedule;
  readonly files: TimerFiles;
  readonly invoke: (trigger: TriggerData) => Promise<unknown>;
  readonly log: HostLog;
}

/**
 * Runs one timer function, on one of the hosts with one storage. The next run is due at the first time after the
 * beginning of the last one and begins after its end: a run that outlives its interval is followed by one more
 * immediately, however many it missed.
 */
export class TimerListener {
  readonly #options: TimerListenerOptions;
  readonly #stop = new AbortController();
  #loop: Promise<void> = Promise.resolve();
  #isRunning = false;

  constructor(options: TimerListenerOptions) {
    this.#options = options;
  }

  /** Whether the function is running. */
  get isBusy(): boolean {
    return this.#isRunning;
  }

  start(): void {
    this.#loop = this.#run();
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#loop;
    await this.#options.files.release();
  }

  async #run(): Promise<void> {
    const { schedule, files, functionName, log } = this.#options;
    const { signal } = this.#stop;
    let next = schedule.next(new Date());
    const stored = (await this.#storedStatus())?.next ?? next;
    // A due time that passed while no host was running is made up for by one run, now.
    let isPastDue = stored < new Date();
    if (isPastDue) next = stored;
    while (!signal.aborted) {
      const waitMs = next.getTime() - Date.now();
      if (waitMs > 0) await pause(waitMs, signal);
      if (signal.aborted) return;
      // Timers fire a moment early at times. Counted from there, the next run would be this very one.
      const last = new Date(Math.max(Date.now(), next.getTime()));
      try {
        if (await files.take()) {
          await this.#invoke(next, isPastDue);
          if (schedule.isMonitored) await files.writeStatus({ last, next: schedule.next(last) });
        }
      } catch (error) {
        log.write("error", `timer ${functionName}\n${errorText(error)}`);
      }
      isPastDue = false;
      next = schedule.next(last);
    }
  }

  async #storedStatus(): Promise<TimerStatus | undefined> {
    const { schedule, files, log, functionName } = this.#options;
    if (!schedule.isMonitored) return undefined;
    try {
      return await files.readStatus();
    } catch (error) {
      log.write("warning", `the status of timer ${functionName} is ignored: ${String(error)}`);
      return undefined;
    }
  }

  /** Runs the function. A failed run is logged and not repeated: the schedule goes on as after any other. */
  async #invoke(next: Date, isPastDue: boolean): Promise<void> {
    const { schedule, invoke } = this.#options;
    const status = await this.#storedStatus();
    const last = status === undefined ? NEVER : dotNetTime(status.last);
    const info = {
      Schedule: { AdjustForDST: true },
      ScheduleStatus: schedule.isMonitored
        ? { Last: last, Next: dotNetTime(next), LastUpdated: last }
        : null,
      IsPastDue: isPastDue,
    };
    this.#isRunning = true;
    await invoke({ input: { json: JSON.stringify(info) }, metadata: {} });
    this.#isRunning = false;
  }
}
