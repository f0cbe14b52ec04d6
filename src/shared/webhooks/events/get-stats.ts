import type { ApplicationScope } from "../../callers/scope.ts";
import { validationFailed } from "../../runtime/errors.ts";
import { isoDay } from "../../runtime/fields.ts";
import type { WebhooksDeps } from "../deps.ts";
import type { GetStats } from "../schema.ts";
import { countDays } from "./count-days.ts";
import type { DayCounts } from "./day-counts.ts";

const DAY_MS = 24 * 60 * 60_000;
const DAYS_MAX = 92;
const DAYS_DEFAULT = 30;
/** Events are removed after this time at the latest, so later ones are of days that are read. */
const LOGGED_DAYS_MAX = 33;

interface StatsOfDay extends DayCounts {
  readonly day: string;
}

export interface Stats {
  readonly asOf: string;
  readonly days: readonly StatsOfDay[];
}

const shifted = (day: string, days: number) => isoDay(new Date(Date.parse(day) + days * DAY_MS));

/**
 * Counts what ended in an application on each day of a range, oldest first. Counts the events that aren't counted yet,
 * and says with `asOf` up to when it came.
 * @throws AppError `validation_failed` for a range that is too large
 */
export async function getStats(
  deps: WebhooksDeps,
  scope: ApplicationScope,
  query: GetStats,
): Promise<Stats> {
  const today = isoDay(deps.clock.now());
  const asked = query.from ?? "";
  const to = query.to ?? (asked > today ? asked : today);
  const from = query.from ?? shifted(to, 1 - DAYS_DEFAULT);
  if (from < shifted(to, 1 - DAYS_MAX))
    throw validationFailed([
      {
        path: "from",
        code: "range_too_large",
        message: `must be nearer to "to": a range has at most ${DAYS_MAX} days`,
      },
    ]);
  const logged = shifted(today, -LOGGED_DAYS_MAX);
  const { days, asOf } = await countDays(deps, scope, from < logged ? from : logged);
  const shown = [...days].filter(([day]) => day >= from && day <= to);
  return {
    asOf,
    days: shown
      .toSorted(([left], [right]) => (left < right ? -1 : 1))
      .map(([day, { posts, legs }]) => ({ day, posts, legs })),
  };
}
