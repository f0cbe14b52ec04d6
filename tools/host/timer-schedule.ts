import { LackError } from "./left-out.ts";

/** The second of each minute at which a timer is due, every so many seconds from the full minute on. */
const SCHEDULE = /^(?:0|\*\/([1-9]\d?)) \* \* \* \* \*$/;
const MINUTE_MS = 60_000;
/** What the Functions host may know: five or six fields, or a time span. */
const NCRONTAB = /^(?:[\w*,/-]+(?: [\w*,/-]+){4,5}|\d+(?::\d+){1,2}|\d+\.\d+:\d+:\d+)$/;

export interface TimerSchedule {
  next(after: Date): Date;
  /** Whether the host keeps the schedule's status, which it does from one minute on. */
  readonly isMonitored: boolean;
}

/** Parses the two forms of NCRONTAB that the app has: each full minute, and every so many seconds within a minute. */
export function parseSchedule(expression: string): TimerSchedule {
  const match = SCHEDULE.exec(expression);
  const stepMs = Number(match?.[1] ?? 60) * 1000;
  if (match === null || stepMs > MINUTE_MS) {
    if (!NCRONTAB.test(expression)) throw new Error(`"${expression}" is no schedule`);
    throw new LackError(
      `the local host has no schedule "${expression}": "0 * * * * *" and "*/5 * * * * *" only`,
    );
  }
  return {
    isMonitored: stepMs === MINUTE_MS,
    next(after) {
      const minute = Math.floor(after.getTime() / MINUTE_MS) * MINUTE_MS;
      const steps = Math.floor((after.getTime() - minute) / stepMs) + 1;
      return new Date(Math.min(minute + steps * stepMs, minute + MINUTE_MS));
    },
  };
}
