import { purgeMarkers } from "../ledger/ledger.ts";
import { purgeHosts, purgeSessions, purgeStates } from "../connections/connections.ts";
import { removeOldCounts } from "../mail/mail.ts";
import { removeSpentKeys, removeFreeTexts } from "../publishing/publishing.ts";
import { stepsWith, type RemovedPage } from "../runtime/walk-step.ts";
import type { BackgroundDeps } from "./deps.ts";
import { purgeInvitations, purgeLinks, removeStrayClaims } from "../people/people.ts";
import { purgeKeyPointers } from "../tenants/tenants.ts";
import {
  purgeDeadDeliveries,
  purgeDeliveries,
  purgeEvents,
  type EventsPosition,
} from "../webhooks/webhooks.ts";
import { overPlatforms, type Walk } from "./walk.ts";

const PURGE = { every: "day", behindSecondsMax: 12 * 60 * 60 } as const;

/** Removes a page of a kind of rows, from where the last page ended. */
type RemovePage = (deps: BackgroundDeps, after: string | undefined) => Promise<RemovedPage>;

/** Removes a page of a kind of rows of one platform. */
type RemovePageOf<Position> = (
  deps: BackgroundDeps,
  platformId: string,
  after: Position | undefined,
) => Promise<RemovedPage<Position>>;

/** Rows that belong to no platform. */
const SHARED: Readonly<Record<string, RemovePage>> = {
  windows: ({ tenants: { limits } }, after) => limits.purge.windows(after),
  logins: ({ tenants: { limits } }, after) => limits.purge.logins(after),
  "dead-deliveries": ({ webhooks }, after) => purgeDeadDeliveries(webhooks, after),
  "oauth-states": ({ connections }, after) => purgeStates(connections, after),
  hosts: ({ connections }, after) => purgeHosts(connections, after),
  "key-pointers": ({ tenants }, after) => purgeKeyPointers(tenants, after),
  "email-claims": ({ people }, after) => removeStrayClaims(people, after),
  "mail-counts": ({ mail }, after) => removeOldCounts(mail, after),
  links: ({ people }, after) => purgeLinks(people, after),
  texts: ({ publishing }, after) => removeFreeTexts(publishing, after),
};

/** Makes the walk that removes a kind of rows of all platforms. */
function removeOfPlatforms<Position>(kind: string, removePage: RemovePageOf<Position>): Walk {
  const name = `purge-${kind}`;
  return {
    ...PURGE,
    name,
    begin: (deps) =>
      overPlatforms<Position>(deps, name, async (platformId, rest) => {
        const { removed, next } = await removePage(deps, platformId, rest);
        return { counts: { removed }, rest: next };
      }),
  };
}

const sharedWalks = Object.entries(SHARED).map(([kind, removePage]): Walk => ({
  ...PURGE,
  name: `purge-${kind}`,
  begin: (deps) =>
    stepsWith<string>(async ({ position }) => {
      const { removed, next } = await removePage(deps, position);
      return { next, counts: { removed } };
    }),
}));

const platformWalks: readonly Walk[] = [
  removeOfPlatforms<string>("idempotency-keys", ({ publishing }, id, after) =>
    removeSpentKeys(publishing, id, after),
  ),
  removeOfPlatforms<string>("markers", ({ ledger }, id, after) => purgeMarkers(ledger, id, after)),
  removeOfPlatforms<string>("connect-sessions", ({ connections }, id, after) =>
    purgeSessions(connections, id, after),
  ),
  removeOfPlatforms<EventsPosition>("events", ({ webhooks }, id, after) =>
    purgeEvents(webhooks, id, after),
  ),
  removeOfPlatforms<string>("invitations", ({ people }, id, after) =>
    purgeInvitations(people, id, after),
  ),
];

/**
 * Walks that remove rows without any further effect or promise. Each kind of rows has its own walk, so that none waits
 * for another. Ledgers and posts stay, and an Idempotency-Key stays as long as its post.
 */
export const PURGE_WALKS: readonly Walk[] = [
  ...sharedWalks,
  ...platformWalks,
  { ...PURGE, name: "purge-deliveries", begin: ({ webhooks }) => purgeDeliveries(webhooks) },
];
