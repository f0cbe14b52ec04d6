/** A version lives for a year at least; https://learn.microsoft.com/linkedin/marketing/versioning */
const MONTHS = 12;

/** Until when the version of a month, such as 202609, certainly lives. */
export function versionEnd(version: string): Date {
  const year = Number(version.slice(0, 4));
  const month = Number(version.slice(4));
  return new Date(Date.UTC(year, month - 1 + MONTHS, 1));
}
