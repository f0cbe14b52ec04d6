import { overItems, type TakeStep } from "../../runtime/walk-step.ts";
import type { ProfileScope, SystemScope } from "../../callers/scope.ts";
import { invariant } from "../../runtime/errors.ts";
import { closePosts, isRemoving, removePosts } from "../../publishing/publishing.ts";
import type { ErasureDeps } from "./deps.ts";
import { afterClosing, afterPage, beforeClosing, QUIET_MS, type Erasure } from "./erasure.ts";
import type { StoredErasure } from "./erasure-store.ts";
import { clearConnections, clearSessions, endConnections } from "../../connections/connections.ts";

interface ClearedPage {
  readonly removed: number;
  readonly next: string | undefined;
}

type Clear = (
  services: ErasureDeps,
  scope: ProfileScope,
  after: string | undefined,
) => Promise<ClearedPage>;

/**
 * Rows that workers and browsers may still write for a while, with a step for each kind. An erasure stores the number
 * of its step, so a new kind goes to the end. Posts are removed later, once all of this is found empty.
 */
const CLEARING_STEPS: readonly Clear[] = [
  ({ connections }, scope) => clearConnections(connections, scope),
  ({ connections }, scope, after) => clearSessions(connections, scope, after),
  ({ webhooks }, { platformId, profileId }, after) =>
    webhooks.stores.events.removePendingOfProfile(platformId, profileId, after),
  ({ webhooks }, { applicationId, profileId }, after) =>
    webhooks.stores.events.removeLoggedOfProfile(applicationId, profileId, after),
  ({ webhooks }, { profileId }, after) =>
    webhooks.stores.deliveries.removeOfProfile(profileId, after),
  ({ publishing }, { profileId }, after) =>
    publishing.stores.networkAccounts.removeTextsOfProfile(profileId, after),
  ({ publishing }, { platformId, profileId }, after) =>
    publishing.stores.idempotency.removeOfProfile(platformId, profileId, after),
  ({ connections }, { profileId }, after) =>
    connections.stores.authorisations.removeOfProfile(profileId, after),
];

/** The pieces of work on one erasure before the next erasure's turn. */
const PIECES_MAX = 10;

/** A bounded piece of work, and the erasure after it; undefined when nothing of the profile is left. */
type Advance = (
  services: ErasureDeps,
  scope: ProfileScope,
  erasure: Erasure,
) => Promise<Erasure | undefined>;

const orUndefined = (cursor: string) => (cursor === "" ? undefined : cursor);

async function close(
  services: ErasureDeps,
  scope: ProfileScope,
  erasure: Erasure,
): Promise<Erasure | undefined> {
  if (erasure.cursor === "") {
    // While its accounts are linked: afterwards nobody could take the posts down any more.
    if (await isRemoving(services.publishing, scope))
      return beforeClosing(erasure, services.clock.now());
    await endConnections(services.connections, scope);
  }
  const page = await closePosts(services.publishing, scope, orUndefined(erasure.cursor));
  const open = erasure.foundInRound + page.open;
  if (page.next !== undefined) return { ...erasure, cursor: page.next, foundInRound: open };
  return { ...afterClosing(erasure, open, services.clock.now()), foundInRound: 0 };
}

async function clear(services: ErasureDeps, scope: ProfileScope, erasure: Erasure) {
  const step = CLEARING_STEPS[erasure.step];
  invariant(step !== undefined, `erasing has no step ${erasure.step}`);
  const page = await step(services, scope, orUndefined(erasure.cursor));
  return afterPage(erasure, page, CLEARING_STEPS.length, services.clock.now());
}

async function remove(
  services: ErasureDeps,
  scope: ProfileScope,
  erasure: Erasure,
): Promise<Erasure | undefined> {
  const removed = await removePosts(services.publishing, scope);
  // No leg can have become open since; if one has, it ends before its post is removed.
  if (removed === undefined) return { ...erasure, stage: "closing", cursor: "", foundInRound: 0 };
  if (removed > 0) return { ...erasure, removed: erasure.removed + removed };
  await services.tenants.stores.profiles.delete(scope.platformId, scope.profileId);
  return undefined;
}

const STAGES: Readonly<Record<Erasure["stage"], Advance>> = {
  closing: close,
  clearing: clear,
  removing: remove,
};

async function finish(services: ErasureDeps, scope: ProfileScope, erasure: Erasure): Promise<void> {
  const { profileId, applicationId, requestedAt, requestedBy, removed } = erasure;
  // Before the row is removed: after a crash it is recorded twice, but never left out.
  services.audit.record(scope, {
    action: "profile.erased",
    target: { type: "profile", id: profileId },
    applicationId,
  });
  services.log.info("profile erased", { profileId, requestedAt, requestedBy, removed });
  await services.erasures.remove(erasure);
}

/**
 * Returns whether the request for an erasure has closed the profile, which is what decides it. Drops an erasure whose
 * request was refused, or died before that: none takes as long as `QUIET_MS`.
 */
async function isDecided(services: ErasureDeps, stored: StoredErasure): Promise<boolean> {
  const { stage, platformId, profileId, requestedAt } = stored.erasure;
  if (stage !== "closing") return true;
  const profile = await services.tenants.stores.profiles.find(platformId, profileId);
  if (profile === undefined || profile.status === "erasing") return true;
  if (services.clock.now().getTime() - Date.parse(requestedAt) > QUIET_MS)
    await services.erasures.drop(stored);
  return false;
}

/** Does some pieces of work on an erasure. Returns true when more can be done now. */
async function advance(
  services: ErasureDeps,
  system: SystemScope,
  stored: StoredErasure,
  isTimeUp: () => boolean,
): Promise<boolean> {
  const { platformId, applicationId, profileId } = stored.erasure;
  const scope: ProfileScope = { ...system, platformId, applicationId, profileId };
  let current: StoredErasure | undefined = stored;
  for (let piece = 0; current !== undefined; piece += 1) {
    const { erasure, etag }: StoredErasure = current;
    const now = services.clock.now();
    if (erasure.notBefore > now.toISOString()) return false;
    if (piece >= PIECES_MAX || (piece > 0 && isTimeUp())) return true;
    const next = await STAGES[erasure.stage](services, scope, erasure);
    if (next === undefined) {
      await finish(services, scope, erasure);
      return false;
    }
    // Two concurrent runs do the same to the same rows. The one that loses here leaves the rest to the other.
    current = await services.erasures.save({ ...next, lookedAt: now.toISOString() }, etag);
  }
  return false;
}

/**
 * Returns the steps that continue every erasure that is due, in bounded pieces, and store the progress after each. Safe
 * when missed, doubled or late: what was removed is not found again. Rows that are not stored under the profile's keys
 * are searched for in whole tables, a page at a time, so that no search must be finished in one run.
 */
export function eraseProfiles(services: ErasureDeps, system: SystemScope): TakeStep {
  const { erasures, log, clock } = services;
  return overItems({
    log,
    what: "erase-profiles",
    async page(after) {
      const { items, next } = await erasures.list(after === "" ? undefined : after);
      const now = clock.now().toISOString();
      const due = items.filter((one) => one.notBefore <= now);
      // A page that was not finished comes again.
      return { items: due.map(({ profileId: id }) => ({ id, after: after ?? "" })), next };
    },
    async look(profileId, at) {
      const stored = await erasures.find(profileId);
      if (stored === undefined) return {};
      try {
        if (!(await isDecided(services, stored))) return {};
        const isMore = await advance(services, system, stored, () => at.isTimeUp());
        return isMore ? { rest: "" } : {};
      } catch (error) {
        const { stage } = stored.erasure;
        log.error("profile not erased, the next run goes on", { profileId, stage, error });
        return { counts: { failed: 1 } };
      }
    },
  });
}
