import type { TypedData } from "./core-types.ts";
import { errorText } from "./host-log.ts";
import type { HostLog } from "./host-log.ts";
import type { InvocationResult, TriggerData } from "./invocation.ts";
import { dotNetTime } from "./queue-message.ts";
import type { TimerLock } from "./timer-lock.ts";
import type { TimerSchedule } from "./timer-schedule.ts";
import type { TimerStatus, TimerStatusStore } from "./timer-status-store.ts";

/** setTimeout counts in 32 bits; a longer wait is cut into pieces. */
const WAIT_MS_MAX = 24 * 86_400_000;
/** How often a host that does not hold the timer tries to get it. */
const TAKE_AGAIN_MS = 5_000;
const NEVER = "0001-01-01T00:00:00+00:00";

export interface TimerListenerOptions {
  readonly functionName: string;
  readonly schedule: TimerSchedule;
  readonly runOnStartup: boolean;
  readonly useMonitor: boolean;
  readonly store: TimerStatusStore;
  readonly lock: TimerLock;
  readonly invoke: (trigger: TriggerData) => Promise<InvocationResult>;
  readonly log: HostLog;
}

/**
 * Runs one timer function. The next run is counted from the beginning of the last one and begins after its end: a run
 * that outlives its interval is followed at once by one more, however many it missed.
 */
export class TimerListener {
  readonly #options: TimerListenerOptions;
  readonly #monitored: boolean;
  #status: TimerStatus | undefined;
  #timer: NodeJS.Timeout | undefined;
  #run: Promise<void> = Promise.resolve();
  #stopped = false;
  #held = false;
  #running = false;

  constructor(options: TimerListenerOptions) {
    this.#options = options;
    this.#monitored = options.useMonitor && options.schedule.isMonitored(new Date());
  }

  /** Whether the function is running. */
  get isBusy(): boolean {
    return this.#running;
  }

  /** Begins once this host holds the timer: of several on one storage, one alone runs it. */
  async start(): Promise<void> {
    if (this.#stopped) return;
    const { lock } = this.#options;
    this.#held = await lock.take(() => this.#lose());
    if (this.#held) await this.#follow();
    else this.#takeAgain();
  }

  /** Another host took the timer, because this one did not say for a while that it is there. */
  #lose(): void {
    this.#held = false;
    clearTimeout(this.#timer);
    this.#takeAgain();
  }

  #takeAgain(): void {
    if (this.#stopped) return;
    this.#timer = setTimeout(() => {
      this.start().catch((error: unknown) =>
        this.#options.log.write(
          "error",
          `timer ${this.#options.functionName}\n${errorText(error)}`,
        ),
      );
    }, TAKE_AGAIN_MS);
  }

  /** A due time that passed while no host was running is made up for by one run, now. */
  async #follow(): Promise<void> {
    const { schedule, functionName, store, runOnStartup } = this.#options;
    const now = new Date();
    const stored = this.#monitored ? await store.read(functionName) : undefined;
    const status = currentStatus(stored, schedule, now);
    this.#status = status;
    if (this.#monitored && status !== stored) await store.write(functionName, status);
    if (this.#monitored && now > status.next) this.#begin(true);
    else if (runOnStartup) this.#begin(false);
    else this.#wait(status.next);
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    clearTimeout(this.#timer);
    await this.#run;
    await this.#options.lock.release();
  }

  #wait(until: Date): void {
    if (this.#stopped || !this.#held) return;
    const remainingMs = until.getTime() - Date.now();
    this.#timer = setTimeout(
      () => (remainingMs > WAIT_MS_MAX ? this.#wait(until) : this.#begin(false)),
      Math.min(Math.max(remainingMs, 1), WAIT_MS_MAX),
    );
  }

  #begin(isPastDue: boolean): void {
    this.#run = this.#runOnce(isPastDue);
  }

  async #runOnce(isPastDue: boolean): Promise<void> {
    const { functionName, schedule, store, log, invoke } = this.#options;
    const startedAt = new Date();
    const due = this.#status?.next;
    // A failed run is logged and not tried again: the schedule goes on as after any other.
    this.#running = true;
    await invoke({ input: this.#timerInfo(isPastDue), metadata: {} });
    this.#running = false;
    // Timers fire a moment early at times. Counted from there, the next run would be this very one.
    const counted =
      !isPastDue && due !== undefined && due > startedAt && isClose(due, startedAt)
        ? due
        : startedAt;
    const status = { last: counted, next: schedule.next(counted), lastUpdated: counted };
    this.#status = status;
    try {
      if (this.#monitored) await store.write(functionName, status);
    } catch (error) {
      log.write("error", `timer ${functionName}\n${errorText(error)}`);
    }
    this.#wait(status.next);
  }

  #timerInfo(isPastDue: boolean): TypedData {
    const status = this.#status;
    return {
      json: JSON.stringify({
        Schedule: { AdjustForDST: this.#options.schedule.adjustForDST },
        ScheduleStatus:
          this.#monitored && status !== undefined
            ? {
                Last: status.last === undefined ? NEVER : dotNetTime(status.last),
                Next: dotNetTime(status.next),
                // The host keeps when it wrote this first, and does not show it.
                LastUpdated: status.last === undefined ? NEVER : dotNetTime(status.lastUpdated),
              }
            : null,
        IsPastDue: isPastDue,
      }),
    };
  }
}

const EARLY_MS_MAX = 1_000;

function isClose(due: Date, startedAt: Date): boolean {
  return due.getTime() - startedAt.getTime() <= EARLY_MS_MAX;
}

/** The stored status, unless the schedule is another one by now: then what was due before counts for nothing. */
function currentStatus(
  stored: TimerStatus | undefined,
  schedule: TimerSchedule,
  now: Date,
): TimerStatus {
  if (stored === undefined) return { last: undefined, next: schedule.next(now), lastUpdated: now };
  const expected = schedule.next(stored.last ?? stored.lastUpdated);
  if (expected.getTime() === stored.next.getTime()) return stored;
  return { ...stored, last: undefined, next: expected };
}
