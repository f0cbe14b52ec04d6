import { recordAudit } from "../../audit/record.ts";
import type { ProfileScope, SystemScope } from "../../callers/scope.ts";
import { invariant } from "../../runtime/errors.ts";
import { isEnded } from "../../publishing/leg.ts";
import type { TenantsDeps } from "../deps.ts";
import { CLEARING_STEPS } from "./clear-rows.ts";
import { closePosts, endConnections } from "./close-posts.ts";
import { closeProfile } from "./request-erasure.ts";
import { afterClosing, afterPage, type Erasure } from "./erasure.ts";
import type { StoredErasure } from "./erasure-store.ts";
import { refOf } from "../../publishing/post.ts";

/** Of a run; what is left is the next one's. */
const RUN_MS_MAX = 45_000;
const PAGE_POSTS = 50;

/** The erasure after one bounded piece of work; undefined when nothing of the profile is left. */
type Advance = (
  services: TenantsDeps,
  scope: ProfileScope,
  erasure: Erasure,
) => Promise<Erasure | undefined>;

const orUndefined = (cursor: string) => (cursor === "" ? undefined : cursor);

async function close(
  services: TenantsDeps,
  scope: ProfileScope,
  erasure: Erasure,
): Promise<Erasure | undefined> {
  if (erasure.cursor === "") {
    await closeProfile(services, scope.platformId, scope.profileId);
    await endConnections(services, scope);
  }
  const page = await closePosts(services, scope, orUndefined(erasure.cursor));
  const open = erasure.foundInRound + page.open;
  if (page.next !== undefined) return { ...erasure, cursor: page.next, foundInRound: open };
  return { ...afterClosing(erasure, open, services.clock.now()), foundInRound: 0 };
}

async function clear(services: TenantsDeps, scope: ProfileScope, erasure: Erasure) {
  const step = CLEARING_STEPS[erasure.step];
  invariant(step !== undefined, `erasing has no step ${erasure.step}`);
  const page = await step(services, scope, orUndefined(erasure.cursor));
  return afterPage(erasure, page, CLEARING_STEPS.length, services.clock.now());
}

async function remove(
  services: TenantsDeps,
  scope: ProfileScope,
  erasure: Erasure,
): Promise<Erasure | undefined> {
  const position = { after: undefined, limit: PAGE_POSTS, missesNone: true } as const;
  const { items } = await services.posts.listOfProfile(scope, position, () => true);
  // Nothing can have opened one since; should it, its tokens must come back before its rows go.
  if (items.some(({ legs }) => legs.some((leg) => !isEnded(leg))))
    return { ...erasure, stage: "closing", cursor: "", foundInRound: 0 };
  for (const found of items) {
    const { scheduleAt } = found.post.draft;
    // A run that died right after it canceled the post left the row that says when it was due.
    if (scheduleAt !== null)
      await services.due.remove({ ref: refOf(found.post), dueAt: scheduleAt });
    await services.timeline.remove(found.post.id);
    await services.posts.remove(found);
  }
  if (items.length > 0) return { ...erasure, removed: erasure.removed + items.length };
  await services.profiles.delete(scope.platformId, scope.profileId);
  return undefined;
}

const STAGES: Readonly<Record<Erasure["stage"], Advance>> = {
  closing: close,
  clearing: clear,
  removing: remove,
};

async function finish(services: TenantsDeps, scope: ProfileScope, erasure: Erasure): Promise<void> {
  const { profileId, applicationId, requestedAt, requestedBy, removed } = erasure;
  // Before the row goes: told twice after a crash, but never not at all.
  recordAudit(services, scope, {
    action: "profile.erased",
    target: { type: "profile", id: profileId },
    applicationId,
  });
  services.log.info("profile erased", { profileId, requestedAt, requestedBy, removed });
  await services.erasures.remove(erasure);
}

async function advance(
  services: TenantsDeps,
  system: SystemScope,
  first: StoredErasure,
  isTimeUp: () => boolean,
): Promise<void> {
  let stored: StoredErasure | undefined = first;
  const { platformId, applicationId, profileId } = first.erasure;
  const scope: ProfileScope = { ...system, platformId, applicationId, profileId };
  while (stored !== undefined) {
    const { erasure, etag }: StoredErasure = stored;
    const now = services.clock.now();
    if (erasure.notBefore > now.toISOString()) return;
    const next = await STAGES[erasure.stage](services, scope, erasure);
    if (next === undefined) return finish(services, scope, erasure);
    // Two runs at once do the same to the same rows: the one that loses here leaves the rest to the other.
    stored = await services.erasures.save({ ...next, lookedAt: now.toISOString() }, etag);
    if (isTimeUp()) return;
  }
}

/**
 * Goes on with every erasure whose time has come, in bounded pieces, each of which is kept. Idempotent: what was
 * removed is not found again, so that a crash, a doubled or a late run only begins a piece anew.
 */
export async function eraseProfiles(services: TenantsDeps, system: SystemScope): Promise<void> {
  const startedAt = performance.now();
  const isTimeUp = () => performance.now() - startedAt > RUN_MS_MAX;
  for (const stored of await services.erasures.listDue(services.clock.now())) {
    try {
      await advance(services, system, stored, isTimeUp);
    } catch (error) {
      const { profileId, stage } = stored.erasure;
      services.log.error("profile not erased, the next run goes on", { profileId, stage, error });
    }
    if (isTimeUp()) return;
  }
}
