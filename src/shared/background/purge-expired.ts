import { removeOldCounts } from "../mail/mail.ts";
import { removeSpentKeys, removeFreeTexts } from "../publishing/publishing.ts";
import { overItems, stepsWith, type TakeStep } from "../runtime/walk-step.ts";
import type { BackgroundDeps } from "./deps.ts";
import { removeStrayClaims } from "../tenants/tenants.ts";
import { overPlatforms, type Walk } from "./walk.ts";

const HOUR_MS = 60 * 60 * 1000;
const DAY_MS = 24 * HOUR_MS;

/** A day longer than a customer is told, so that nothing is missing that a list promises. */
const EVENTS_KEPT_MS = 31 * DAY_MS;
const DELIVERIES_KEPT_MS = 31 * DAY_MS;
const MARKERS_KEPT_MS = 90 * DAY_MS;
/** Longer than any request takes that writes a pointer before what it leads to. */
const POINTERS_YOUNG_MS = DAY_MS;
/** Longer than it takes to accept a post. */
const KEYS_YOUNG_MS = DAY_MS;
/** Once ended, a session only tells how it ended. */
const SESSIONS_KEPT_MS = 30 * DAY_MS;
const STATES_KEPT_MS = DAY_MS;
/** Long enough to see who was invited, and by whom. */
const INVITATIONS_KEPT_MS = 90 * DAY_MS;
/** Each is found with a query of its own. */
const ENDPOINTS_OF_PAGE = 50;

const PURGE = { every: "day", behindSecondsMax: 12 * 60 * 60 } as const;

interface Removed<Position> {
  readonly removed: number;
  readonly next: Position | undefined;
}

/** Removes a page of a kind of rows, from where the page before ended. */
type RemovePage = (services: BackgroundDeps, after: string | undefined) => Promise<Removed<string>>;

/** Does so with the rows of a platform. */
type RemovePageOf<Position> = (
  services: BackgroundDeps,
  platformId: string,
  after: Position | undefined,
) => Promise<Removed<Position>>;

const ago = ({ clock }: BackgroundDeps, ms: number) => new Date(clock.now().getTime() - ms);

/** Rows that are no platform's. */
const SHARED: Readonly<Record<string, RemovePage>> = {
  windows: ({ tenants: { limits } }, after) => limits.purge.windows(after),
  logins: ({ tenants: { limits } }, after) => limits.purge.logins(after),
  "dead-deliveries": (services, after) =>
    services.webhooks.stores.deadDeliveries.removeBefore(ago(services, DELIVERIES_KEPT_MS), after),
  "oauth-states": (services, after) =>
    services.connections.stores.oauthStates.removeEndedBefore(ago(services, STATES_KEPT_MS), after),
  "key-pointers": (services, after) =>
    services.tenants.stores.keys.removeStray(ago(services, POINTERS_YOUNG_MS), after),
  "email-claims": (services, after) =>
    removeStrayClaims(services.tenants, ago(services, POINTERS_YOUNG_MS), after),
  "mail-counts": ({ tenants: { mail } }, after) => removeOldCounts(mail, after),
  links: (services, after) =>
    services.tenants.stores.links.removeExpiredBefore(ago(services, DAY_MS), after),
  texts(services, after) {
    const keptMs = services.config.publishing.duplicateWindowHours * HOUR_MS + DAY_MS;
    return removeFreeTexts(services.publishing, ago(services, keptMs), after);
  },
};

/** Where the events of a platform are purged: an application, and the page of its events. */
interface EventsPosition {
  readonly application: string;
  readonly page?: string | undefined;
}

/** Removes a page of old events of one of the platform's applications, one application after the other. */
const removeEvents: RemovePageOf<EventsPosition> = async (services, platformId, after) => {
  const ids = (await services.tenants.stores.applications.listIds(platformId)).toSorted();
  const application = ids.find((one) => one >= (after?.application ?? ""));
  if (application === undefined) return { removed: 0, next: undefined };
  const time = ago(services, EVENTS_KEPT_MS);
  const from = application === after?.application ? after.page : undefined;
  const { removed, next: page } = await services.webhooks.stores.events.removeLoggedBefore(
    application,
    time,
    from,
  );
  if (page !== undefined) return { removed, next: { application, page } };
  const following = ids.find((one) => one > application);
  return { removed, next: following === undefined ? undefined : { application: following } };
};

/** Makes the walk that removes a kind of rows of all platforms. */
function removeOfPlatforms<Position>(kind: string, removePage: RemovePageOf<Position>): Walk {
  const name = `purge-${kind}`;
  return {
    ...PURGE,
    name,
    begin: (services) =>
      overPlatforms<Position>(services, name, async (platformId, rest) => {
        const { removed, next } = await removePage(services, platformId, rest);
        return { counts: { removed }, rest: next };
      }),
  };
}

/** Makes the steps that remove old deliveries, of all endpoints that ever had one. */
function removeDeliveries(services: BackgroundDeps): TakeStep {
  const { log } = services;
  const { deliveries } = services.webhooks.stores;
  return overItems({
    log,
    what: "purge-deliveries",
    async page(after = "") {
      const items: { id: string; after: string }[] = [];
      for (let last = after; items.length < ENDPOINTS_OF_PAGE;) {
        const id = await deliveries.nextEndpoint(last);
        if (id === undefined) return { items, next: undefined };
        items.push({ id, after: id });
        last = id;
      }
      return { items, next: items.at(-1)?.id };
    },
    async look(id, _at, rest) {
      const time = ago(services, DELIVERIES_KEPT_MS);
      const { removed, next } = await deliveries.removeEndedBefore(id, time, rest);
      return { counts: { removed }, rest: next };
    },
  });
}

const sharedWalks = Object.entries(SHARED).map(([kind, removePage]): Walk => ({
  ...PURGE,
  name: `purge-${kind}`,
  begin: (services) =>
    stepsWith<string>(async ({ position }) => {
      const { removed, next } = await removePage(services, position);
      return { next, counts: { removed } };
    }),
}));

const platformWalks: readonly Walk[] = [
  removeOfPlatforms<string>("idempotency-keys", (services, id, after) =>
    removeSpentKeys(services.publishing, id, {
      acceptedBefore: ago(services, KEYS_YOUNG_MS),
      after,
    }),
  ),
  removeOfPlatforms<string>("markers", (services, id, after) =>
    services.billing.wallets.removeMarkersBefore(id, ago(services, MARKERS_KEPT_MS), after),
  ),
  removeOfPlatforms<string>("connect-sessions", (services, id, after) =>
    services.connections.stores.connectSessions.removeBefore(
      id,
      ago(services, SESSIONS_KEPT_MS),
      after,
    ),
  ),
  removeOfPlatforms<string>("invitations", (services, id, after) =>
    services.tenants.stores.invitations.removeEndedBefore(
      id,
      ago(services, INVITATIONS_KEPT_MS),
      after,
    ),
  ),
  removeOfPlatforms("events", removeEvents),
];

/**
 * Remove what has no say any more and that nobody is promised: a walk for each kind of rows, so that none waits for
 * another. Ledgers and posts stay, and an Idempotency-Key as long as its post.
 */
export const PURGE_WALKS: readonly Walk[] = [
  ...sharedWalks,
  ...platformWalks,
  { ...PURGE, name: "purge-deliveries", begin: removeDeliveries },
];
