import { describe, expect, test } from "vitest";
import { parseSchedule } from "../../dev/host/timer-schedule.ts";
import { parseTimeSpan } from "../../dev/host/time-span.ts";

// A Tuesday.
const NOW = new Date("2024-02-27T10:20:30.500Z");

describe("a schedule", () => {
  test.each([
    ["* * * * * *", "2024-02-27T10:20:31.000Z"],
    ["0 * * * * *", "2024-02-27T10:21:00.000Z"],
    ["*/15 * * * * *", "2024-02-27T10:20:45.000Z"],
    ["30 20 10 * * *", "2024-02-28T10:20:30.000Z"],
    ["31 20 10 * * *", "2024-02-27T10:20:31.000Z"],
    ["0 */5 * * * *", "2024-02-27T10:25:00.000Z"],
    ["0 50/5 * * * *", "2024-02-27T10:50:00.000Z"],
    ["0 0 9-17 * * *", "2024-02-27T11:00:00.000Z"],
    ["0 0 17-9/4 * * *", "2024-02-27T13:00:00.000Z"],
    ["0 0 0 1 * *", "2024-03-01T00:00:00.000Z"],
    ["0 0 0 29 2 *", "2024-02-29T00:00:00.000Z"],
    ["0 0 0 29 2 1", "2044-02-29T00:00:00.000Z"],
    ["0 0 0 31 * *", "2024-03-31T00:00:00.000Z"],
    ["0 30 9 * Jan Mon", "2025-01-06T09:30:00.000Z"],
    ["0 30 9 * * MON-FRI", "2024-02-28T09:30:00.000Z"],
    ["0 0 12 * * 0,6", "2024-03-02T12:00:00.000Z"],
    ["0 0 0 1 january,July *", "2024-07-01T00:00:00.000Z"],
    ["59 59 23 31 12 *", "2024-12-31T23:59:59.000Z"],
    ["5 4 * * *", "2024-02-28T04:05:00.000Z"],
    ["00:00:10", "2024-02-27T10:20:40.500Z"],
    ["1.00:00:00", "2024-02-28T10:20:30.500Z"],
  ])("%s comes next at %s", (expression, next) => {
    expect(parseSchedule(expression).next(NOW).toISOString()).toBe(next);
  });

  test("comes after a time it falls on, and not on it", () => {
    const schedule = parseSchedule("0 0 * * * *");
    expect(schedule.next(new Date("2024-12-31T23:00:00.000Z")).toISOString()).toBe(
      "2025-01-01T00:00:00.000Z",
    );
  });

  test.each([
    ["* * * *", "six fields"],
    ["* * * * * * *", "six fields"],
    ["60 * * * * *", '"60" is no second'],
    ["* * 24 * * *", '"24" is no hour'],
    ["* * * 0 * *", '"0" is no day'],
    ["* * * * 13 *", '"13" is no month'],
    ["* * * * * 7", '"7" is no day of the week'],
    ["* * * * * funday", '"funday" is no day of the week'],
    ["*/0 * * * * *", '"*/0" is no second'],
    ["1-2-3 * * * * *", '"1-2-3" is no second'],
    ["a * * * * *", '"a" is no second'],
    [", * * * * *", "is no second"],
    ["0 0 0 31 2 *", "never comes"],
    ["25:00:00", "neither an NCRONTAB expression nor a time span"],
    ["00:00:00", "neither an NCRONTAB expression nor a time span"],
    ["hourly", "neither an NCRONTAB expression nor a time span"],
  ])("%s is refused: %s", (expression, message) => {
    expect(() => parseSchedule(expression)).toThrow(message);
  });

  test.each([
    ["* * * * * *", false],
    ["*/30 * * * * *", false],
    ["0 * * * * *", true],
    ["00:00:59", false],
    ["00:01:00", true],
  ])("%s has its status kept: %s", (expression, monitored) => {
    expect(parseSchedule(expression).isMonitored(NOW)).toBe(monitored);
  });
});

describe("a time span", () => {
  test.each([
    ["00:00:00.250", 250],
    ["00:00:30", 30_000],
    ["01:30", 5_400_000],
    ["00:05:00", 300_000],
    ["1.02:03:04.5", 93_784_500],
    ["7", 604_800_000],
    ["00:60:00", undefined],
    ["24:00:00", undefined],
    ["five", undefined],
    ["", undefined],
  ])("%j is %s ms", (text, milliseconds) => {
    expect(parseTimeSpan(text)).toBe(milliseconds);
  });
});
