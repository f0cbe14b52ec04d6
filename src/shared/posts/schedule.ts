import { validationFailed } from "../errors.ts";

const AHEAD_MS_MIN = 10_000;
const AHEAD_MS_MAX = 365 * 24 * 60 * 60 * 1000;

/** @throws AppError `validation_failed` unless the time lies more than 10 seconds and at most 365 days ahead */
export function requireSchedulable(scheduleAt: string, now: Date): void {
  const aheadMs = Date.parse(scheduleAt) - now.getTime();
  if (aheadMs > AHEAD_MS_MIN && aheadMs <= AHEAD_MS_MAX) return;
  const message =
    aheadMs > AHEAD_MS_MAX
      ? "must be at most 365 days ahead"
      : "must be more than 10 seconds ahead; omit it to publish now";
  throw validationFailed([{ path: "scheduleAt", code: "out_of_range", message }]);
}
