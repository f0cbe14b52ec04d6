const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;
const MINUTE_MS = 60_000;

/** `[days.]hours:minutes[:seconds[.fraction]]`, or a bare number of days: what .NET's `TimeSpan` reads. */
const TIME_SPAN =
  /^(?:(?:(?<days>\d{1,8})\.)?(?<hours>\d{1,2}):(?<minutes>\d{1,2})(?::(?<seconds>\d{1,2})(?<fraction>\.\d{1,7})?)?|(?<wholeDays>\d{1,8}))$/;

/** Milliseconds, or undefined when the text is no time span. */
export function parseTimeSpan(text: string): number | undefined {
  const parts = TIME_SPAN.exec(text.trim())?.groups;
  if (parts === undefined) return undefined;
  const hours = Number(parts["hours"] ?? 0);
  const minutes = Number(parts["minutes"] ?? 0);
  const seconds = Number(parts["seconds"] ?? 0);
  if (hours > 23 || minutes > 59 || seconds > 59) return undefined;
  const days = Number(parts["days"] ?? parts["wholeDays"] ?? 0);
  return (
    days * DAY_MS +
    hours * HOUR_MS +
    minutes * MINUTE_MS +
    seconds * 1000 +
    Math.round(Number(parts["fraction"] ?? 0) * 1000)
  );
}
