import { removeSpentKeys } from "../publishing/accept/idempotency-key.ts";
import { removeFreeTexts } from "../publishing/accounts/recent-text.ts";
import type { BackgroundDeps } from "./deps.ts";

const HOUR_MS = 60 * 60 * 1000;
const DAY_MS = 24 * HOUR_MS;
/** The host gives a function five minutes. */
const RUN_MS_MAX = 150_000;
const PLATFORMS_OF_PAGE = 50;

/** A day longer than a customer is told, so that nothing is missing that a list promises. */
const EVENTS_KEPT_MS = 31 * DAY_MS;
const DELIVERIES_KEPT_MS = 31 * DAY_MS;
const POISON_KEPT_MS = 30 * DAY_MS;
const KEYS_KEPT_MS = 90 * DAY_MS;
/** Once ended, a session only tells how it ended. */
const SESSIONS_KEPT_MS = 30 * DAY_MS;
const STATES_KEPT_MS = DAY_MS;

interface Page {
  readonly removed: number;
  readonly next: string | undefined;
}

/** One run: how much it removed of what, and how long it may go on. */
class Purge {
  readonly services: BackgroundDeps;
  readonly counts: Record<string, number> = {};
  isComplete = true;
  readonly #endsAt = performance.now() + RUN_MS_MAX;

  constructor(services: BackgroundDeps) {
    this.services = services;
  }

  get isOver(): boolean {
    return performance.now() > this.#endsAt;
  }

  ago(ms: number): Date {
    return new Date(this.services.clock.now().getTime() - ms);
  }

  /** Page after page. What fails is left for the next run, and does not keep the other kinds from being removed. */
  async remove(what: string, page: (after: string | undefined) => Promise<Page>): Promise<void> {
    this.counts[what] ??= 0;
    let after: string | undefined;
    try {
      do {
        if (this.isOver) {
          this.isComplete = false;
          return;
        }
        const { removed, next } = await page(after);
        this.counts[what] += removed;
        after = next;
      } while (after !== undefined);
    } catch (error) {
      this.isComplete = false;
      this.services.log.error("rows not purged", { event: "purge_failed", what, error });
    }
  }
}

async function purgeShared(purge: Purge): Promise<void> {
  const { services } = purge;
  const { limits, deadDeliveries, connectSessions, oauthStates, housekeeping, config } = services;
  const now = services.clock.now();
  const once = async (removed: Promise<number>): Promise<Page> => ({
    removed: await removed,
    next: undefined,
  });
  const textsKeptMs = config.publishing.duplicateWindowHours * HOUR_MS + DAY_MS;
  await purge.remove("windows", () => once(limits.windows.purge(now)));
  await purge.remove("logins", () => once(limits.logins.purge(now)));
  await purge.remove("deadDeliveries", (after) =>
    deadDeliveries.removeBefore(purge.ago(DELIVERIES_KEPT_MS), after),
  );
  await purge.remove("connectSessions", (after) =>
    connectSessions.removeBefore(purge.ago(SESSIONS_KEPT_MS), after),
  );
  await purge.remove("oauthStates", (after) =>
    oauthStates.removeEndedBefore(purge.ago(STATES_KEPT_MS), after),
  );
  await purge.remove("texts", (after) => removeFreeTexts(services, purge.ago(textsKeptMs), after));
  await purge.remove("poisonMessages", (after) =>
    housekeeping.removePoisonBefore(purge.ago(POISON_KEPT_MS), after),
  );
}

async function purgePlatform(purge: Purge, platformId: string): Promise<void> {
  const { services } = purge;
  const { applications, wallets, events } = services;
  await purge.remove("idempotencyKeys", (after) =>
    removeSpentKeys(services, platformId, { acceptedBefore: purge.ago(KEYS_KEPT_MS), after }),
  );
  await purge.remove("markers", (after) =>
    wallets.removeMarkersBefore(platformId, purge.ago(KEYS_KEPT_MS), after),
  );
  for (const id of await applications.listIds(platformId))
    await purge.remove("events", (after) =>
      events.removeLoggedBefore(id, purge.ago(EVENTS_KEPT_MS), after),
    );
}

/** All platforms, from where the last run stopped. */
async function purgePlatforms(purge: Purge): Promise<void> {
  const { platforms, housekeeping } = purge.services;
  let after = await housekeeping.position("purge_platforms");
  do {
    const { ids, next } = await platforms.walk(after, PLATFORMS_OF_PAGE);
    for (const id of ids) await purgePlatform(purge, id);
    if (purge.isOver) return;
    after = next;
    await housekeeping.keepPosition("purge_platforms", after);
  } while (after !== undefined);
}

/** All endpoints that ever had a delivery, from where the last run stopped. */
async function purgeEndpoints(purge: Purge): Promise<void> {
  const { deliveries, housekeeping } = purge.services;
  let endpoint = (await housekeeping.position("purge_endpoints")) ?? "";
  for (;;) {
    const next = await deliveries.nextEndpoint(endpoint);
    if (next === undefined) break;
    await purge.remove("deliveries", (after) =>
      deliveries.removeEndedBefore(next, purge.ago(DELIVERIES_KEPT_MS), after),
    );
    if (purge.isOver) return;
    endpoint = next;
    await housekeeping.keepPosition("purge_endpoints", endpoint);
  }
  await housekeeping.keepPosition("purge_endpoints", undefined);
}

/**
 * Removes what has no say any more and that nobody is promised. Idempotent, bounded, and safe when it is missed, doubled
 * or cut short: every row goes by itself, and a search goes on where it stopped. Ledgers and posts stay.
 */
export async function purgeExpired(services: BackgroundDeps): Promise<void> {
  const purge = new Purge(services);
  await purgeShared(purge);
  await purgePlatforms(purge);
  await purgeEndpoints(purge);
  const { counts, isComplete } = purge;
  services.log.info("expired rows purged", { event: "purged", isComplete, ...counts });
}
