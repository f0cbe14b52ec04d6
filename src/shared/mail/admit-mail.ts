import type { MailDeps } from "./deps.ts";
import type { MailKind } from "./mail-content.ts";

const PER_DAY = 10;
/** A day longer than the longest limit. */
const KEPT_MS = 2 * 24 * 60 * 60_000;

/** Resets have only the hourly limit. Otherwise a stranger could lock an owner out by requesting them all day. */
const UNLIMITED_A_DAY = new Set<string>(["reset", "reset of a known device"]);

/** Counts a mail to an address and returns whether it may be sent: three of a kind per hour, ten per day. */
export function admitMail(
  { clock, stores }: MailDeps,
  email: string,
  kind: MailKind | "reset of a known device",
): Promise<boolean> {
  const perDay = UNLIMITED_A_DAY.has(kind) ? Infinity : PER_DAY;
  return stores.counts.admit(email, kind, { perDay, now: clock.now() });
}

/** Removes a page of counts that no longer matter. */
export function removeOldCounts({ clock, stores }: MailDeps, after: string | undefined) {
  return stores.counts.removeBefore(new Date(clock.now().getTime() - KEPT_MS), after);
}
