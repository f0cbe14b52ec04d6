import type { SystemScope } from "../callers/scope.ts";
import { invariant } from "../runtime/errors.ts";
import { eraseFilesOfPlatform } from "../files/files.ts";
import type { RemovedPage } from "../runtime/walk-step.ts";
import { clearWebhooksOfPlatform } from "../webhooks/webhooks.ts";
import { announcedAt, erasedAt } from "../tenants/tenants.ts";
import type { ErasureDeps } from "./deps.ts";
import {
  afterPage,
  afterStopping,
  aMinuteLater,
  isOverdue,
  type Erasure,
} from "./erasure-stages.ts";
import type { Erasing } from "./erasing.ts";
import { beginErasure } from "./request-erasure.ts";
import { stopPage } from "./stop-platform.ts";

/** Number of profiles erased at a time, so that no platform delays the profiles of others for long. */
const PROFILES_AT_ONCE = 50;

type PageRemoval = Promise<RemovedPage>;

/**
 * The data stored outside the platform's partition, with a step for each kind. An erasure stores the number of its
 * step, so a new kind goes to the end. The partition is removed later, when all of this was found empty.
 */
const CLEARING_STEPS: readonly ((
  deps: ErasureDeps,
  platformId: string,
  after: string | undefined,
) => PageRemoval)[] = [
  ({ tenants }, id) => tenants.unlist(id),
  ({ webhooks }, id) => clearWebhooksOfPlatform.endpoints(webhooks, id),
  ({ webhooks }, id, after) => clearWebhooksOfPlatform.deliveries(webhooks, id, after),
  ({ webhooks }, id, after) => clearWebhooksOfPlatform.deadDeliveries(webhooks, id, after),
  ({ webhooks }, id, after) => clearWebhooksOfPlatform.pendingEvents(webhooks, id, after),
  ({ webhooks }, id) => clearWebhooksOfPlatform.loggedEvents(webhooks, id),
  ({ tenants }, id) => tenants.clearKeys(id),
  ({ people }, id, after) => people.clearLinks(id, after),
  ({ publishing: { files } }, id) => eraseFilesOfPlatform(files, id),
];

/** A limited part of the work. It returns the erasure afterwards, or undefined when nothing of the platform is left. */
type AdvancePlatform = (
  deps: ErasureDeps,
  erasure: Erasure,
  system: SystemScope,
) => Promise<Erasure | undefined>;

const stop: AdvancePlatform = async (deps, erasure, { requestId, ip }) => {
  const now = deps.clock.now();
  const stopping = {
    scope: { requestId, ip },
    platformId: erasure.id,
    isOverdue: isOverdue(erasure, now),
  };
  const { open, waiting, next } = await stopPage(deps, stopping, erasure.cursor);
  return afterStopping(erasure, { open: open + waiting, next }, now);
};

/** Waits until the platform can no longer be opened again, and announces that a day before. */
const wait: AdvancePlatform = async ({ tenants, clock }, erasure) => {
  const { id: platformId } = erasure;
  const platform = await tenants.findPlatform(platformId);
  const closedAt = platform?.updatedAt ?? erasure.requestedAt;
  const now = clock.now();
  const until = (time: Date): Erasure => ({ ...erasure, notBefore: time.toISOString() });
  if (now < announcedAt(closedAt)) return until(announcedAt(closedAt));
  if (now < erasedAt(closedAt)) {
    await tenants.announce(platformId, closedAt);
    return until(erasedAt(closedAt));
  }
  const isDecided = await tenants.beginErasing(platformId, closedAt);
  return isDecided ? { ...erasure, stage: "emptying", cursor: "" } : aMinuteLater(erasure, now);
};

/** The cursor once the emails are free. */
const AT_PROFILES = "profiles";

/** Frees the emails of a page of the staff. */
async function freeEmails({ people }: ErasureDeps, erasure: Erasure): Promise<Erasure> {
  const after = erasure.cursor === "" ? undefined : erasure.cursor;
  const next = await people.freeEmails(erasure.id, after);
  return { ...erasure, cursor: next ?? AT_PROFILES };
}

/** Frees the emails, then starts erasing some profiles, and further ones once these are gone. */
const empty: AdvancePlatform = async (deps, erasure) => {
  if (erasure.cursor !== AT_PROFILES) return await freeEmails(deps, erasure);
  const { id: platformId, requestedBy } = erasure;
  const { items } = await deps.tenants.listProfiles(platformId, undefined, PROFILES_AT_ONCE);
  for (const { id, applicationId, status } of items)
    if (status !== "erasing")
      await beginErasure(deps, { id, platformId, applicationId, requestedBy });
  if (items.length > 0) return aMinuteLater(erasure, deps.clock.now());
  return { ...erasure, stage: "clearing", step: 0, cursor: "", foundInRound: 0 };
};

const clearPlatform: AdvancePlatform = async (deps, erasure) => {
  const step = CLEARING_STEPS[erasure.step];
  invariant(step !== undefined, `erasing a platform has no step ${erasure.step}`);
  const after = erasure.cursor === "" ? undefined : erasure.cursor;
  const found = await step(deps, erasure.id, after);
  return afterPage(erasure, found, CLEARING_STEPS.length, deps.clock.now());
};

const removePlatformRows: AdvancePlatform = async ({ tenants }, erasure) => {
  const removed = await tenants.removeRows(erasure.id);
  return removed === 0 ? undefined : { ...erasure, removed: erasure.removed + removed };
};

const STAGES: Readonly<Record<string, AdvancePlatform>> = {
  stopping: stop,
  waiting: wait,
  emptying: empty,
  clearing: clearPlatform,
  removing: removePlatformRows,
};

/** Erases a closed platform after a week. */
export const PLATFORMS: Erasing = {
  async isDecided({ tenants }, { stage, id }) {
    if (stage !== "stopping" && stage !== "waiting") return true;
    const platform = await tenants.findPlatform(id);
    return platform === undefined || platform.status === "closed";
  },
  take(deps, system, erasure) {
    const advance = STAGES[erasure.stage];
    invariant(advance !== undefined, `erasing a platform has no stage ${erasure.stage}`);
    return advance(deps, erasure, system);
  },
  finish(deps, system, { id: platformId, requestedAt, requestedBy, removed }) {
    const target = { type: "platform", id: platformId } as const;
    deps.audit.record({ ...system, platformId }, { action: "platform.erased", target });
    deps.log.info("platform erased", { platformId, requestedAt, requestedBy, removed });
  },
};
