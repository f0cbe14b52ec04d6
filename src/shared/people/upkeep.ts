import { ago } from "../runtime/process.ts";
import type { PeopleDeps } from "./deps.ts";

const LINKS_KEPT_MS = 24 * 60 * 60 * 1000;
/** Long enough to see who was invited, and by whom. */
const INVITATIONS_KEPT_MS = 90 * 24 * 60 * 60 * 1000;

/** Removes a page of links that can't be used any more. */
export function purgeLinks({ stores, clock }: PeopleDeps, after: string | undefined) {
  return stores.links.removeExpiredBefore(ago(clock, LINKS_KEPT_MS), after);
}

export function purgeInvitations(
  { stores, clock }: PeopleDeps,
  platformId: string,
  after: string | undefined,
) {
  const time = ago(clock, INVITATIONS_KEPT_MS);
  return stores.invitations.removeEndedBefore(platformId, time, after);
}
