import type { SystemScope } from "../callers/scope.ts";
import { invariant } from "../runtime/errors.ts";
import type { RemovedPage } from "../runtime/walk-step.ts";
import { clearWebhooksOfPlatform } from "../webhooks/webhooks.ts";
import { announcedAt, erasedAt } from "../tenants/platform.ts";
import { closingNotice, writeWithOwnersNotice } from "../tenants/staff/security-notices.ts";
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

const PAGE_USERS = 100;
/** Number of profiles erased at a time, so that no platform delays the profiles of others for long. */
const PROFILES_AT_ONCE = 50;
const PAGE_KEYS = 80;

type PageRemoval = Promise<RemovedPage>;

async function clearKeys({ tenants: { stores } }: ErasureDeps, platformId: string): PageRemoval {
  const position = { after: undefined, limit: PAGE_KEYS };
  const { items } = await stores.keys.list(platformId, null, position);
  for (const own of Map.groupBy(items, ({ applicationId }) => applicationId).values())
    await stores.keys.purgeAll(own);
  return { removed: items.length, next: items.length > 0 ? "more" : undefined };
}

/**
 * The data stored outside the platform's partition, with a step for each kind. An erasure stores the number of its
 * step, so a new kind goes to the end. The partition is removed later, when all of this was found empty.
 */
const CLEARING_STEPS: readonly ((
  services: ErasureDeps,
  platformId: string,
  after: string | undefined,
) => PageRemoval)[] = [
  async ({ tenants }, id) => ({
    removed: (await tenants.stores.closings.unlist(id)) ? 1 : 0,
    next: undefined,
  }),
  ({ webhooks }, id) => clearWebhooksOfPlatform.endpoints(webhooks, id),
  ({ webhooks }, id, after) => clearWebhooksOfPlatform.deliveries(webhooks, id, after),
  ({ webhooks }, id, after) => clearWebhooksOfPlatform.deadDeliveries(webhooks, id, after),
  ({ webhooks }, id, after) => clearWebhooksOfPlatform.pendingEvents(webhooks, id, after),
  ({ webhooks }, id) => clearWebhooksOfPlatform.loggedEvents(webhooks, id),
  clearKeys,
  ({ tenants }, id, after) => tenants.stores.links.removeOfPlatform(id, after),
];

/** A limited part of the work. It returns the erasure afterwards, or undefined when nothing of the platform is left. */
type AdvancePlatform = (
  services: ErasureDeps,
  erasure: Erasure,
  system: SystemScope,
) => Promise<Erasure | undefined>;

const stop: AdvancePlatform = async (services, erasure, { requestId, ip }) => {
  const now = services.clock.now();
  const stopping = {
    scope: { requestId, ip },
    platformId: erasure.id,
    isOverdue: isOverdue(erasure, now),
  };
  const { open, waiting, next } = await stopPage(services, stopping, erasure.cursor);
  return afterStopping(erasure, { open: open + waiting, next }, now);
};

/** Waits until the platform can no longer be opened again, and announces that a day before. */
const wait: AdvancePlatform = async ({ tenants, clock }, erasure) => {
  const { id: platformId } = erasure;
  const { platforms, closings } = tenants.stores;
  const platform = await platforms.find(platformId);
  const closedAt = platform?.updatedAt ?? erasure.requestedAt;
  const now = clock.now();
  const until = (time: Date): Erasure => ({ ...erasure, notBefore: time.toISOString() });
  if (now < announcedAt(closedAt)) return until(announcedAt(closedAt));
  if (now < erasedAt(closedAt)) {
    await writeWithOwnersNotice(
      tenants.mail,
      platformId,
      closingNotice("platformEnding", closedAt),
      (rows) => closings.announce(platformId, closedAt, rows),
    );
    return until(erasedAt(closedAt));
  }
  const isDecided = await closings.beginErasing(platformId, closedAt);
  return isDecided ? { ...erasure, stage: "emptying", cursor: "" } : aMinuteLater(erasure, now);
};

/** The cursor once the e-mails are free. */
const AT_PROFILES = "profiles";

/** Frees the e-mails of a page of the staff. */
async function freeEmails({ tenants }: ErasureDeps, erasure: Erasure): Promise<Erasure> {
  const { users, emails } = tenants.stores;
  const after = erasure.cursor === "" ? undefined : erasure.cursor;
  const { items, next } = await users.list(erasure.id, after, PAGE_USERS);
  for (const { id, email } of items) await emails.release(email, id);
  return { ...erasure, cursor: next ?? AT_PROFILES };
}

/** Frees the e-mails, then starts erasing some profiles, and further ones once these are gone. */
const empty: AdvancePlatform = async (services, erasure) => {
  if (erasure.cursor !== AT_PROFILES) return await freeEmails(services, erasure);
  const { id: platformId, requestedBy } = erasure;
  const { profiles } = services.tenants.stores;
  const position = { after: undefined, limit: PROFILES_AT_ONCE };
  const { items } = await profiles.list(platformId, { applicationId: null }, position);
  for (const { id, applicationId, status } of items)
    if (status !== "erasing")
      await beginErasure(services, { id, platformId, applicationId, requestedBy });
  if (items.length > 0) return aMinuteLater(erasure, services.clock.now());
  return { ...erasure, stage: "clearing", step: 0, cursor: "", foundInRound: 0 };
};

const clearPlatform: AdvancePlatform = async (services, erasure) => {
  const step = CLEARING_STEPS[erasure.step];
  invariant(step !== undefined, `erasing a platform has no step ${erasure.step}`);
  const after = erasure.cursor === "" ? undefined : erasure.cursor;
  const found = await step(services, erasure.id, after);
  return afterPage(erasure, found, CLEARING_STEPS.length, services.clock.now());
};

const removePlatformRows: AdvancePlatform = async ({ tenants }, erasure) => {
  const removed = await tenants.stores.closings.removeRows(erasure.id);
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
    const platform = await tenants.stores.platforms.find(id);
    return platform === undefined || platform.status === "closed";
  },
  take(services, system, erasure) {
    const advance = STAGES[erasure.stage];
    invariant(advance !== undefined, `erasing a platform has no stage ${erasure.stage}`);
    return advance(services, erasure, system);
  },
  finish(services, system, { id: platformId, requestedAt, requestedBy, removed }) {
    const target = { type: "platform", id: platformId } as const;
    services.audit.record({ ...system, platformId }, { action: "platform.erased", target });
    services.log.info("platform erased", { platformId, requestedAt, requestedBy, removed });
  },
};
