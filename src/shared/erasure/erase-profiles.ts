import type { ProfileScope } from "../callers/scope.ts";
import { invariant } from "../runtime/errors.ts";
import {
  clearIdempotencyKeys,
  clearTexts,
  closePosts,
  isRemoving,
  removePosts,
} from "../publishing/publishing.ts";
import { eraseFiles } from "../files/files.ts";
import type { RemovedPage } from "../runtime/walk-step.ts";
import { clearWebhooks } from "../webhooks/webhooks.ts";
import type { ErasureDeps } from "./deps.ts";
import { afterClosing, afterPage, aMinuteLater, type Erasure } from "./erasure-stages.ts";
import type { Erasing } from "./erasing.ts";
import {
  clearAuthorizations,
  clearConnections,
  clearSessions,
  endConnections,
} from "../connections/connections.ts";

type Clear = (
  deps: ErasureDeps,
  scope: ProfileScope,
  after: string | undefined,
) => Promise<RemovedPage>;

/**
 * Rows that workers and browsers may still write for a while, with a step for each kind. An erasure stores the number
 * of its step, so a new kind goes to the end. Posts are removed later, when all of this was found empty.
 */
const CLEARING_STEPS: readonly Clear[] = [
  ({ connections }, scope) => clearConnections(connections, scope),
  ({ connections }, scope, after) => clearSessions(connections, scope, after),
  ({ webhooks }, scope, after) => clearWebhooks.pendingEvents(webhooks, scope, after),
  ({ webhooks }, scope, after) => clearWebhooks.loggedEvents(webhooks, scope, after),
  ({ webhooks }, scope, after) => clearWebhooks.deliveries(webhooks, scope, after),
  ({ publishing }, scope, after) => clearTexts(publishing, scope, after),
  ({ publishing }, scope, after) => clearIdempotencyKeys(publishing, scope, after),
  ({ connections }, scope, after) => clearAuthorizations(connections, scope, after),
  ({ publishing: { files } }, scope) => eraseFiles(files, scope),
];

/** A limited part of the work. It returns the erasure afterwards, or undefined when nothing of the profile is left. */
type AdvanceProfile = (
  deps: ErasureDeps,
  scope: ProfileScope,
  erasure: Erasure,
) => Promise<Erasure | undefined>;

const cursorOrUndefined = (cursor: string) => (cursor === "" ? undefined : cursor);

async function close(
  deps: ErasureDeps,
  scope: ProfileScope,
  erasure: Erasure,
): Promise<Erasure | undefined> {
  if (erasure.cursor === "") {
    // While its accounts are still linked. Afterwards, nobody could remove the posts at the networks.
    if (await isRemoving(deps.publishing, scope)) return aMinuteLater(erasure, deps.clock.now());
    await endConnections(deps.connections, scope);
  }
  const page = await closePosts(deps.publishing, scope, cursorOrUndefined(erasure.cursor));
  const open = erasure.foundInRound + page.open;
  if (page.next !== undefined) return { ...erasure, cursor: page.next, foundInRound: open };
  return { ...afterClosing(erasure, open, deps.clock.now()), foundInRound: 0 };
}

async function clearProfile(deps: ErasureDeps, scope: ProfileScope, erasure: Erasure) {
  const step = CLEARING_STEPS[erasure.step];
  invariant(step !== undefined, `erasing has no step ${erasure.step}`);
  const page = await step(deps, scope, cursorOrUndefined(erasure.cursor));
  return afterPage(erasure, page, CLEARING_STEPS.length, deps.clock.now());
}

async function removeProfileRows(
  deps: ErasureDeps,
  scope: ProfileScope,
  erasure: Erasure,
): Promise<Erasure | undefined> {
  const removed = await removePosts(deps.publishing, scope);
  // A leg can't have opened since. If one has, it ends before its post is removed.
  if (removed === undefined) return { ...erasure, stage: "closing", cursor: "", foundInRound: 0 };
  if (removed > 0) return { ...erasure, removed: erasure.removed + removed };
  await deps.tenants.deleteProfile(scope.platformId, scope.profileId);
  return undefined;
}

const STAGES: Readonly<Record<string, AdvanceProfile>> = {
  closing: close,
  clearing: clearProfile,
  removing: removeProfileRows,
};

/** Erases a profile that was closed for good. */
export const PROFILES: Erasing = {
  async isDecided({ tenants }, { stage, platformId, id }) {
    if (stage !== "closing") return true;
    const profile = await tenants.findProfile(platformId, id);
    return profile === undefined || profile.status === "erasing";
  },
  take(deps, system, erasure) {
    const { platformId, applicationId, id: profileId, stage } = erasure;
    const advance = STAGES[stage];
    invariant(advance !== undefined, `erasing a profile has no stage ${stage}`);
    return advance(deps, { ...system, platformId, applicationId, profileId }, erasure);
  },
  finish(deps, system, { platformId, id, applicationId, requestedAt, requestedBy, removed }) {
    const target = { type: "profile", id } as const;
    deps.audit.record(
      { ...system, platformId, profileId: id },
      { action: "profile.erased", target, applicationId },
    );
    deps.log.info("profile erased", { profileId: id, requestedAt, requestedBy, removed });
  },
};
