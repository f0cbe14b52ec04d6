/** LinkedIn keeps a version for a year at least; https://learn.microsoft.com/linkedin/marketing/versioning */
const LINKEDIN_MONTHS = 12;

/** Until when LinkedIn's version of a month, such as 202609, certainly lives. */
export function linkedinVersionEnd(version: string): Date {
  const year = Number(version.slice(0, 4));
  const month = Number(version.slice(4));
  return new Date(Date.UTC(year, month - 1 + LINKEDIN_MONTHS, 1));
}
