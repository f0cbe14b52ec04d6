import { removeSpentKeys } from "../publishing/accept/idempotency-key.ts";
import { removeFreeTexts } from "../publishing/accounts/recent-text.ts";
import { overItems, type TakeStep, type WalkStep } from "../runtime/walk-step.ts";
import type { BackgroundDeps } from "./deps.ts";
import { overPlatforms, PLATFORM_SHARDS, type Walk } from "./walk.ts";

const HOUR_MS = 60 * 60 * 1000;
const DAY_MS = 24 * HOUR_MS;

/** A day longer than a customer is told, so that nothing is missing that a list promises. */
const EVENTS_KEPT_MS = 31 * DAY_MS;
const DELIVERIES_KEPT_MS = 31 * DAY_MS;
const MARKERS_KEPT_MS = 90 * DAY_MS;
/** Longer than it takes to accept a post. */
const KEYS_YOUNG_MS = DAY_MS;
/** Once ended, a session only tells how it ended. */
const SESSIONS_KEPT_MS = 30 * DAY_MS;
const STATES_KEPT_MS = DAY_MS;
/** Each is found with a query of its own. */
const ENDPOINTS_OF_PAGE = 50;

interface Removed {
  readonly removed: number;
  readonly next: string | undefined;
}

/** Removes a page of a kind of rows, from where the page before ended. */
type RemovePage = (services: BackgroundDeps, after: string | undefined) => Promise<Removed>;

const ago = ({ clock }: BackgroundDeps, ms: number) => new Date(clock.now().getTime() - ms);

/** Rows that are no platform's. */
const SHARED: Readonly<Record<string, RemovePage>> = {
  windows: (services, after) => services.limits.windows.removeOld(services.clock.now(), after),
  logins: (services, after) => services.limits.logins.removeForgotten(services.clock.now(), after),
  "dead-deliveries": (services, after) =>
    services.deadDeliveries.removeBefore(ago(services, DELIVERIES_KEPT_MS), after),
  "oauth-states": (services, after) =>
    services.oauthStates.removeEndedBefore(ago(services, STATES_KEPT_MS), after),
  texts(services, after) {
    const keptMs = services.config.publishing.duplicateWindowHours * HOUR_MS + DAY_MS;
    return removeFreeTexts(services, ago(services, keptMs), after);
  },
};

/** Rows of a platform. */
const OF_PLATFORMS: Readonly<
  Record<
    string,
    (services: BackgroundDeps, id: string, after: string | undefined) => Promise<Removed>
  >
> = {
  "idempotency-keys": (services, id, after) =>
    removeSpentKeys(services, id, { acceptedBefore: ago(services, KEYS_YOUNG_MS), after }),
  markers: (services, id, after) =>
    services.wallets.removeMarkersBefore(id, ago(services, MARKERS_KEPT_MS), after),
  "connect-sessions": (services, id, after) =>
    services.connectSessions.removeBefore(id, ago(services, SESSIONS_KEPT_MS), after),
  events: removeEvents,
};

/** Removes a page of old events of one of the platform's applications, one application after the other. */
async function removeEvents(
  services: BackgroundDeps,
  platformId: string,
  after: string | undefined,
): Promise<Removed> {
  const ids = (await services.applications.listIds(platformId)).toSorted();
  const [at = "", ...rest] = after?.split("|") ?? [];
  const token = rest.join("|");
  const id = ids.find((one) => one >= at);
  if (id === undefined) return { removed: 0, next: undefined };
  const time = ago(services, EVENTS_KEPT_MS);
  const from = id === at && token !== "" ? token : undefined;
  const { removed, next } = await services.events.removeLoggedBefore(id, time, from);
  const following = ids.find((one) => one > id);
  if (next !== undefined) return { removed, next: `${id}|${next}` };
  return { removed, next: following };
}

/** Makes the steps that remove old deliveries, of all endpoints that ever had one. */
function removeDeliveries(services: BackgroundDeps): TakeStep {
  const { deliveries, log } = services;
  return overItems({
    log,
    what: "purge-deliveries",
    async page(_at, after = "") {
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

const PURGE = { every: "day", behindSecondsMax: 12 * 60 * 60 } as const;

const sharedWalks = Object.entries(SHARED).map(([kind, removePage]): Walk => ({
  ...PURGE,
  name: `purge-${kind}`,
  shards: 1,
  begin:
    (services) =>
    async ({ position }): Promise<WalkStep> => {
      const { removed, next } = await removePage(services, position);
      return { next, counts: { removed } };
    },
}));

const platformWalks = Object.entries(OF_PLATFORMS).map(([kind, removePage]): Walk => ({
  ...PURGE,
  name: `purge-${kind}`,
  shards: PLATFORM_SHARDS,
  begin: (services) =>
    overPlatforms(services, `purge-${kind}`, async (platformId, rest) => {
      const { removed, next } = await removePage(services, platformId, rest);
      return { counts: { removed }, rest: next };
    }),
}));

/**
 * Remove what has no say any more and that nobody is promised: a walk for each kind of rows, so that none waits for
 * another. Ledgers and posts stay, and an Idempotency-Key as long as its post.
 */
export const PURGE_WALKS: readonly Walk[] = [
  ...sharedWalks,
  ...platformWalks,
  { ...PURGE, name: "purge-deliveries", shards: 1, begin: removeDeliveries },
];
