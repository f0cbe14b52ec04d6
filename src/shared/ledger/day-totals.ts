import type { StoredEntry } from "./wallet-row.ts";
import type { DayTotal } from "./totals-row.ts";

/** Maximum number of groups in a row: a few hundred kilobytes. */
const GROUPS_MAX = 1_000;

export interface TotalsPart {
  readonly part: number;
  readonly totals: readonly DayTotal[];
}

export function dayOf({ createdAt }: StoredEntry): string {
  return createdAt.slice(0, 10);
}

export function changesBalance({ type }: StoredEntry): boolean {
  return type !== "reserve" && type !== "release";
}

export function toTotal(entry: StoredEntry): DayTotal {
  const { applicationId, profileId, operation, tokens, sequence } = entry;
  return [applicationId, profileId, operation, tokens, 1, sequence];
}

function addAll(groups: Map<string, DayTotal>, totals: Iterable<DayTotal>): Map<string, DayTotal> {
  for (const total of totals) {
    const [applicationId, profileId, operation, tokens, entries, last] = total;
    const group = `${applicationId ?? ""}|${profileId ?? ""}|${operation}`;
    const [, , , tokensBefore = 0, entriesBefore = 0, lastBefore = 0] = groups.get(group) ?? [];
    const sum = [
      tokensBefore + tokens,
      entriesBefore + entries,
      Math.max(last, lastBefore),
    ] as const;
    groups.set(group, [applicationId, profileId, operation, ...sum]);
  }
  return groups;
}

/** Returns the change of the balance on each day of the entries. */
export function totalsByDay(
  entries: readonly StoredEntry[],
): ReadonlyMap<string, readonly DayTotal[]> {
  const days = Map.groupBy(entries.filter(changesBalance), dayOf);
  const totals = new Map<string, readonly DayTotal[]>();
  for (const [day, own] of days) totals.set(day, [...addAll(new Map(), own.map(toTotal)).values()]);
  return totals;
}

/**
 * Adds totals to the last row of a day, and returns the rows that change. A group in that row is added to. A group that
 * is not in it, but may be in an earlier row, starts again at the end, so that only the last row of a day must be read.
 */
export function addTotals(last: TotalsPart, totals: readonly DayTotal[]): readonly TotalsPart[] {
  const groups = [...addAll(addAll(new Map(), last.totals), totals).values()];
  const parts: TotalsPart[] = [];
  for (let start = 0; start < groups.length; start += GROUPS_MAX)
    parts.push({ part: last.part + parts.length, totals: groups.slice(start, start + GROUPS_MAX) });
  return parts;
}
