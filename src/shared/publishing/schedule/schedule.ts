import type { Issue } from "../../runtime/errors.ts";

const AHEAD_MS_MIN = 10_000;
const AHEAD_MS_MAX = 365 * 24 * 60 * 60 * 1000;

/** What is wrong with a time unless it lies more than 10 seconds and at most 365 days ahead. */
export function scheduleIssues(scheduleAt: string | null, now: Date): readonly Issue[] {
  if (scheduleAt === null) return [];
  const aheadMs = Date.parse(scheduleAt) - now.getTime();
  if (aheadMs > AHEAD_MS_MIN && aheadMs <= AHEAD_MS_MAX) return [];
  const message =
    aheadMs > AHEAD_MS_MAX
      ? "must be at most 365 days ahead"
      : "must be more than 10 seconds ahead; omit it to publish now";
  return [{ path: "scheduleAt", code: "out_of_range", message }];
}
