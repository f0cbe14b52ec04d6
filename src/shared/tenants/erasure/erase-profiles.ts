import { overItems, type TakeStep } from "../../runtime/walk-step.ts";
import type { ProfileScope, SystemScope } from "../../callers/scope.ts";
import { invariant, AppError } from "../../runtime/errors.ts";
import {
  isBeingRemoved,
  isBusy,
  postWake,
  refOf,
  cancelPost,
} from "../../publishing/publishing.ts";
import type { ErasureDeps } from "./deps.ts";
import { afterClosing, afterPage, beforeClosing, QUIET_MS, type Erasure } from "./erasure.ts";
import type { StoredErasure } from "./erasure-store.ts";
import { removeConnection } from "../../connections/connections.ts";

interface ClearedPage {
  readonly removed: number;
  readonly next: string | undefined;
}

type Clear = (
  services: ErasureDeps,
  scope: ProfileScope,
  after: string | undefined,
) => Promise<ClearedPage>;

/** The service takes at most fifteen comparisons in one filter. */
const SESSIONS_OF_FILTER = 12;

async function clearConnections(services: ErasureDeps, scope: ProfileScope): Promise<ClearedPage> {
  // An account that was being linked while the profile was closed may be linked by now.
  await endConnections(services, scope);
  const connections = await services.connections.stores.connections.listOfProfile(scope, {
    missesNone: true,
  });
  for (const connection of connections)
    await services.connections.stores.connections.remove(connection);
  return { removed: connections.length, next: undefined };
}

async function clearSessions(
  services: ErasureDeps,
  scope: ProfileScope,
  after: string | undefined,
): Promise<ClearedPage> {
  const { ids, next } = await services.connections.stores.connectSessions.idsOfProfile(
    scope,
    after,
  );
  for (let start = 0; start < ids.length; start += SESSIONS_OF_FILTER) {
    const batch = ids.slice(start, start + SESSIONS_OF_FILTER);
    // Before the sessions, by which they are found.
    await services.connections.stores.oauthStates.removeOfSessions(batch);
    await services.connections.stores.connectSessions.removeAll(scope, batch);
  }
  return { removed: ids.length, next };
}

/**
 * Rows that workers and browsers may still write for a while, with a step for each kind. An erasure stores the number
 * of its step, so a new kind goes to the end. Posts are removed later, once all of this is found empty.
 */
const CLEARING_STEPS: readonly Clear[] = [
  clearConnections,
  clearSessions,
  (services, { platformId, profileId }, after) =>
    services.webhooks.stores.events.removePendingOfProfile(platformId, profileId, after),
  (services, { applicationId, profileId }, after) =>
    services.webhooks.stores.events.removeLoggedOfProfile(applicationId, profileId, after),
  (services, { profileId }, after) =>
    services.webhooks.stores.deliveries.removeOfProfile(profileId, after),
  (services, { profileId }, after) =>
    services.publishing.stores.networkAccounts.removeTextsOfProfile(profileId, after),
  (services, { platformId, profileId }, after) =>
    services.publishing.stores.idempotency.removeOfProfile(platformId, profileId, after),
  (services, { profileId }, after) =>
    services.connections.stores.authorisations.removeOfProfile(profileId, after),
];

async function end(services: ErasureDeps, scope: ProfileScope, id: string): Promise<void> {
  try {
    await removeConnection(services.connections, scope, id);
  } catch (error) {
    // A concurrent run has removed it meanwhile.
    if (!(error instanceof AppError && error.code === "not_found")) throw error;
  }
}

/** Purges the secrets of the profile's accounts and ends their authorisations at the networks. May be repeated. */
async function endConnections(services: ErasureDeps, scope: ProfileScope): Promise<void> {
  for (const connection of await services.connections.stores.connections.listOfProfile(scope, {
    missesNone: true,
  })) {
    if (connection.status !== "revoked") await end(services, scope, connection.id);
  }
}

/** Returns whether a post of the profile is being removed at its network, which takes an hour at most. */
async function isRemoving(services: ErasureDeps, scope: ProfileScope): Promise<boolean> {
  const { posts } = services.publishing.stores;
  for (let after: string | undefined = ""; after !== undefined;) {
    const page: Awaited<ReturnType<typeof posts.listOpenWork>> = await posts.listOpenWork(
      scope.platformId,
      after,
    );
    for (const { ref } of page.works) {
      if (ref.profileId !== scope.profileId) continue;
      const found = await posts.find(ref);
      if (found?.legs.some(isBeingRemoved) === true) return true;
    }
    after = page.next;
  }
  return false;
}

async function cancel(services: ErasureDeps, scope: ProfileScope, postId: string): Promise<void> {
  try {
    await cancelPost(services.publishing, scope, postId);
  } catch (error) {
    // The post has started: its legs end by themselves, because no account is linked any more.
    if (!(error instanceof AppError && error.code === "invalid_state")) throw error;
  }
}

/** Cancels the scheduled posts of a page of the profile's posts. Returns how many posts of the page are still open. */
async function closePosts(
  services: ErasureDeps,
  scope: ProfileScope,
  after: string | undefined,
): Promise<{ readonly open: number; readonly next: string | undefined }> {
  const position = { after, limit: PAGE_POSTS, missesNone: true } as const;
  const { items, next } = await services.publishing.stores.posts.listOfProfile(
    scope,
    position,
    ({ post }) => post.status === "scheduled" || post.status === "processing",
  );
  for (const { post } of items)
    if (post.status === "scheduled") await cancel(services, scope, post.id);
  // Canceled posts count as open until the next round, because the post may have started before the cancel.
  return { open: items.length, next };
}

/** The pieces of work on one erasure before the next erasure's turn. */
const PIECES_MAX = 10;
const PAGE_POSTS = 50;

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
    if (await isRemoving(services, scope)) return beforeClosing(erasure, services.clock.now());
    await endConnections(services, scope);
  }
  const page = await closePosts(services, scope, orUndefined(erasure.cursor));
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
  const position = { after: undefined, limit: PAGE_POSTS, missesNone: true } as const;
  const { items } = await services.publishing.stores.posts.listOfProfile(
    scope,
    position,
    () => true,
  );
  // No leg can have become open since. If one has, its tokens must be released before its rows are removed.
  if (items.some(({ legs }) => legs.some(isBusy)))
    return { ...erasure, stage: "closing", cursor: "", foundInRound: 0 };
  for (const found of items) {
    const { scheduleAt } = found.post.draft;
    // A run that crashed right after it canceled the post left the row that says when it was due.
    if (scheduleAt !== null)
      await services.webhooks.wakes.remove(postWake(refOf(found.post), scheduleAt));
    await services.publishing.stores.timeline.remove(found.post.id);
    await services.publishing.stores.posts.remove(found);
  }
  if (items.length > 0) return { ...erasure, removed: erasure.removed + items.length };
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
