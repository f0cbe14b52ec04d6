const MINUTE_MS = 60_000;
/** Clocks of instances may differ: minutes younger than this are looked at again. */
const SKEW_MINUTES = 2;

/** Returns the beginning of the minute that the time is in. */
export function minuteOf(time: string | Date): string {
  return new Date(Math.floor(new Date(time).getTime() / MINUTE_MS) * MINUTE_MS).toISOString();
}

/** Returns the minute that begins so many minutes before the present one. */
export function minuteBefore(now: Date, minutes: number): string {
  return minuteOf(new Date(now.getTime() - minutes * MINUTE_MS));
}

/** Returns the first minute that is looked at each time. */
export function youngestMinute(now: Date): string {
  return minuteBefore(now, SKEW_MINUTES);
}

/** Lists the minutes that begin before a time, from the given one on. */
export function minutesFrom(first: string, before: number): string[] {
  const minutes: string[] = [];
  for (let at = Date.parse(first); at < before; at += MINUTE_MS)
    minutes.push(new Date(at).toISOString());
  return minutes;
}

/** Returns the minute after this one. */
export function minuteAfter(minute: string): string {
  return new Date(Date.parse(minute) + MINUTE_MS).toISOString();
}
