import { nextOccurrence, parseNcrontab } from "./ncrontab.ts";
import { parseTimeSpan } from "./time-span.ts";

const MINUTE_MS = 60_000;

export interface TimerSchedule {
  readonly adjustForDST: boolean;
  next(after: Date): Date;
  /** Whether the host keeps the schedule's status: not for one that comes more than once in the next minute. */
  isMonitored(now: Date): boolean;
}

/** An NCRONTAB expression or a time span. Throws for what is neither, and for what never comes. */
export function parseSchedule(expression: string): TimerSchedule {
  return /\s/.test(expression.trim()) ? cronSchedule(expression) : constantSchedule(expression);
}

function cronSchedule(expression: string): TimerSchedule {
  const parsed = parseNcrontab(expression);
  const next = (after: Date): Date => {
    const occurrence = nextOccurrence(parsed, after);
    if (occurrence === undefined) throw new Error(`the schedule "${expression}" never comes`);
    return occurrence;
  };
  next(new Date());
  return {
    adjustForDST: true,
    next,
    isMonitored: (now) => next(next(now)).getTime() - now.getTime() >= MINUTE_MS,
  };
}

function constantSchedule(expression: string): TimerSchedule {
  const intervalMs = parseTimeSpan(expression);
  if (intervalMs === undefined || intervalMs === 0)
    throw new Error(
      `the schedule "${expression}" is neither an NCRONTAB expression nor a time span`,
    );
  return {
    adjustForDST: false,
    next: (after) => new Date(after.getTime() + intervalMs),
    isMonitored: () => intervalMs >= MINUTE_MS,
  };
}
