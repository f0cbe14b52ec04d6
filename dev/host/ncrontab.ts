const MONTHS = [
  "january",
  "february",
  "march",
  "april",
  "may",
  "june",
  "july",
  "august",
  "september",
  "october",
  "november",
  "december",
];
const DAYS = ["sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday"];

interface Field {
  readonly name: string;
  readonly minimum: number;
  readonly maximum: number;
  readonly words?: readonly string[];
}

const SECOND: Field = { name: "second", minimum: 0, maximum: 59 };
const MINUTE: Field = { name: "minute", minimum: 0, maximum: 59 };
const HOUR: Field = { name: "hour", minimum: 0, maximum: 23 };
const DAY: Field = { name: "day", minimum: 1, maximum: 31 };
const MONTH: Field = { name: "month", minimum: 1, maximum: 12, words: MONTHS };
const WEEKDAY: Field = { name: "day of the week", minimum: 0, maximum: 6, words: DAYS };

/** 29 February falls on each day of the week at least every 40 years, and every other date more often. */
const YEARS_SEARCHED = 41;

/** The numbers each field allows, in ascending order. */
export interface Ncrontab {
  readonly seconds: readonly number[];
  readonly minutes: readonly number[];
  readonly hours: readonly number[];
  readonly days: readonly number[];
  readonly months: readonly number[];
  readonly weekdays: readonly number[];
}

/** Parses `{second} {minute} {hour} {day} {month} {day of week}`; second 0 when absent. @throws Error when invalid */
export function parseNcrontab(expression: string): Ncrontab {
  const given = expression.trim().split(/\s+/);
  const fields = given.length === 5 ? ["0", ...given] : given;
  const [seconds, minutes, hours, days, months, weekdays, ...more] = fields;
  if (weekdays === undefined || more.length > 0)
    throw new Error(`"${expression}" must have six fields: second minute hour day month weekday`);
  return {
    seconds: parseField(seconds ?? "", SECOND),
    minutes: parseField(minutes ?? "", MINUTE),
    hours: parseField(hours ?? "", HOUR),
    days: parseField(days ?? "", DAY),
    months: parseField(months ?? "", MONTH),
    weekdays: parseField(weekdays, WEEKDAY),
  };
}

function parseField(text: string, field: Field): readonly number[] {
  const allowed = new Set<number>();
  for (const item of text.split(","))
    for (const number of parseItem(item, field)) allowed.add(number);
  return [...allowed].sort((a, b) => a - b);
}

function parseItem(item: string, field: Field): number[] {
  const [, range = "", step] = /^([^/]+)(?:\/(\d{1,4}))?$/.exec(item) ?? [];
  if (range === "" || step === "0") throw wrong(item, field);
  const [start, end] = bounds(range, step !== undefined, field);
  // NCrontab swaps the ends of a range that runs backwards and does not wrap around.
  const [from, to] = start <= end ? [start, end] : [end, start];
  const numbers: number[] = [];
  for (let number = from; number <= to; number += Number(step ?? 1)) numbers.push(number);
  return numbers;
}

/** Returns the ends of a range; a single number with a step runs to the field's end. */
function bounds(range: string, stepped: boolean, field: Field): [number, number] {
  if (range === "*") return [field.minimum, field.maximum];
  const [first = "", last, ...more] = range.split("-");
  if (more.length > 0) throw wrong(range, field);
  const start = parseNumber(first, field);
  if (last !== undefined) return [start, parseNumber(last, field)];
  return [start, stepped ? field.maximum : start];
}

function parseNumber(text: string, field: Field): number {
  const word =
    text.length < 3
      ? -1
      : (field.words?.findIndex((name) => name.startsWith(text.toLowerCase())) ?? -1);
  const number = /^\d{1,2}$/.test(text) ? Number(text) : word + field.minimum;
  if ((word === -1 && !/^\d/.test(text)) || number < field.minimum || number > field.maximum)
    throw wrong(text, field);
  return number;
}

function wrong(text: string, { name, minimum, maximum }: Field): Error {
  return new Error(
    `"${text}" is no ${name}: ${minimum} to ${maximum}, *, a list, a range or a step`,
  );
}

/** Returns the next time after this one, in UTC; undefined when there is none, as for 31 February. */
export function nextOccurrence(schedule: Ncrontab, after: Date): Date | undefined {
  const start = new Date(Math.floor(after.getTime() / 1000) * 1000 + 1000);
  const day = new Date(Date.UTC(start.getUTCFullYear(), start.getUTCMonth(), start.getUTCDate()));
  const lastYear = start.getUTCFullYear() + YEARS_SEARCHED;
  let from = [start.getUTCHours(), start.getUTCMinutes(), start.getUTCSeconds()] as const;
  while (day.getUTCFullYear() <= lastYear) {
    const time = isDayOf(schedule, day) ? firstTime(schedule, from) : undefined;
    if (time !== undefined) return new Date(day.getTime() + time * 1000);
    day.setUTCDate(day.getUTCDate() + 1);
    from = [0, 0, 0];
  }
  return undefined;
}

/** Returns whether day and day of the week both fit; in cron, one is enough. */
function isDayOf({ months, days, weekdays }: Ncrontab, day: Date): boolean {
  return (
    months.includes(day.getUTCMonth() + 1) &&
    days.includes(day.getUTCDate()) &&
    weekdays.includes(day.getUTCDay())
  );
}

/** Returns the first allowed time at or after the given one, in seconds of the day. */
function firstTime(
  { hours, minutes, seconds }: Ncrontab,
  [fromHour, fromMinute, fromSecond]: readonly [number, number, number],
): number | undefined {
  for (const hour of hours) {
    if (hour < fromHour) continue;
    for (const minute of minutes) {
      if (hour === fromHour && minute < fromMinute) continue;
      const sameMinute = hour === fromHour && minute === fromMinute;
      const second = seconds.find((candidate) => !sameMinute || candidate >= fromSecond);
      if (second !== undefined) return (hour * 60 + minute) * 60 + second;
    }
  }
  return undefined;
}
