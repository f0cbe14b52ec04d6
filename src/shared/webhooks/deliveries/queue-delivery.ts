import { openCheckOf } from "../../callers/access-check.ts";
import type { WebhooksDeps } from "../deps.ts";
import { deliveryIdOf, type Delivery } from "./delivery.ts";
import type { Endpoint } from "../endpoints/endpoint.ts";
import type { Event } from "../../events/events.ts";
import { inBatches } from "../../runtime/promises.ts";
import { undefinedIfDamaged } from "../../runtime/storage/damaged-row.ts";
import type { TakeStep } from "../../runtime/walk-step.ts";
import {
  type HintedWakes,
  hintIfSoon,
  hintWakes,
  isSoon,
  minuteOf,
  type Wake,
  wakeOf,
} from "../../wake/wake.ts";
import { isHeld } from "../../runtime/lease.ts";
import { isArmed, nextAttemptOf } from "./pending-store.ts";

function dueDeliveries({ stores: { webhookQueue } }: WebhooksDeps): HintedWakes {
  return {
    kind: "endpoint",
    what: "hint-due-deliveries",
    hint: ({ id: endpointId, at: dueAt }, seconds) =>
      webhookQueue.hint({ kind: "deliveries", endpointId, dueAt }, seconds),
  };
}

/** Adds the wake of an endpoint. Call it before writing due work, so that a crash never leaves work without one. */
export async function addDueDelivery(deps: WebhooksDeps, wake: Wake): Promise<void> {
  const now = deps.clock.now();
  if (isSoon(wake, now)) await deps.wakes.addHinted(wake, now);
  else await deps.wakes.add(wake, now);
}

/** Sends a hint when the row is due soon. The timer sends the others. Call it after the due work is written. */
export function hintDueDelivery(deps: WebhooksDeps, wake: Wake): Promise<void> {
  return hintIfSoon(deps, dueDeliveries(deps), wake);
}

/** Makes the steps that send a hint for everything that is due soon or was missed. */
export function hintDueDeliveries(deps: WebhooksDeps): TakeStep {
  return hintWakes(deps, dueDeliveries(deps));
}

/**
 * Sends a hint that the endpoint has work. If that fails, it adds a due row for the present minute, so that the timer's
 * next run sends the hint. Never throws, because the sweep finds a marked endpoint, only later.
 */
export async function hintEndpoint(deps: WebhooksDeps, endpointId: string): Promise<void> {
  try {
    await deps.stores.webhookQueue.hint({ kind: "deliveries", endpointId });
  } catch (error) {
    deps.log.warn("hint not sent, the timer will", { endpointId, error });
    // Adds a due row for the endpoint, one for all hints that fail in a minute. Never throws.
    const now = deps.clock.now();
    try {
      await deps.wakes.add(wakeOf("endpoint", endpointId, minuteOf(now)), now);
    } catch (error) {
      deps.log.warn("hint not sent, the sweep will", { endpointId, error });
    }
  }
}

export async function wakeEndpoint(deps: WebhooksDeps, endpointId: string): Promise<void> {
  await deps.wakes.mark("endpoint-check", endpointId, deps.clock.now());
  await hintEndpoint(deps, endpointId);
}

function untried(now: Date) {
  const at = now.toISOString();
  return {
    status: "pending",
    attempts: 0,
    nextAttemptAt: at,
    lastStatusCode: null,
    lastError: null,
    durationMs: null,
    responseBody: null,
    redrivenAs: null,
    createdAt: at,
    deliveredAt: null,
    diedAt: null,
  } as const;
}

export function firstDelivery(event: Event, endpoint: Endpoint, now: Date): Delivery {
  return {
    id: deliveryIdOf(event.id, endpoint.id),
    endpointId: endpoint.id,
    platformId: endpoint.platformId,
    applicationId: endpoint.applicationId,
    eventId: event.id,
    eventType: event.type,
    profileId: event.profileId,
    postId: event.postId,
    origin: event.origin,
    redriveOf: null,
    ...untried(now),
  };
}

export function redriveOf(before: Delivery, id: string, now: Date): Delivery {
  return {
    ...before,
    id,
    redriveOf: before.id,
    ...untried(now),
  };
}

/**
 * Queues deliveries: marks their endpoints, writes the deliveries, and sends a hint per endpoint. Returns those that
 * were not queued before. A repeat after a crash sends the hints again.
 *
 * The mark finds a delivery whose hint is lost. It is made before the delivery, in case of a crash directly after the
 * write, and once more after it, because the process may be suspended in between until the first mark was checked.
 */
export async function queueDeliveries(
  deps: WebhooksDeps,
  deliveries: readonly Delivery[],
): Promise<readonly Delivery[]> {
  const byEndpoint = [...Map.groupBy(deliveries, ({ endpointId }) => endpointId)];
  const added = await Promise.all(
    byEndpoint.map(async ([endpointId, own]) => {
      await deps.wakes.mark("endpoint-check", endpointId, deps.clock.now());
      const absent = await deps.stores.pending.insertAbsent(endpointId, own);
      await wakeEndpoint(deps, endpointId);
      return absent;
    }),
  );
  return added.flat();
}

/**
 * Queues the delivery of a request like `queueDeliveries`, with its event if that is new. Returns false when it was
 * queued before. The request is checked again directly before the first write that shows it.
 */
export async function queueDelivery(
  deps: WebhooksDeps,
  delivery: Delivery,
  event?: Event,
): Promise<boolean> {
  const { endpointId, platformId, applicationId } = delivery;
  await deps.wakes.mark("endpoint-check", endpointId, deps.clock.now());
  await openCheckOf(platformId)?.requireAccess();
  if (event !== undefined) await deps.stores.events.log([{ ...event, applicationId }]);
  const absent = await deps.stores.pending.insertAbsent(endpointId, [delivery]);
  await wakeEndpoint(deps, endpointId);
  return absent.length > 0;
}

/** Enough to see the next one, among those with a time and among the new ones. */
const PENDING_SEEN = 2;
/** A hint without effect for this long was lost. */
const HINT_LOST_MS = 60_000;

/**
 * Checks whether a marked endpoint has deliveries that no process would make, and sends a hint for those that are
 * overdue or have no due row. Marks the endpoint again while that may still happen.
 */
export async function lookAtEndpoint(deps: WebhooksDeps, endpointId: string): Promise<void> {
  const now = deps.clock.now();
  const work = await deps.stores.pending.read(endpointId, PENDING_SEEN);
  const wakeAt = nextAttemptOf(work, now);
  if (wakeAt === undefined || isArmed(work, now)) return;
  // First, so that after a crash the next sweep finds the endpoint.
  await deps.wakes.mark("endpoint-check", endpointId, now);
  const isOverdue = now.getTime() - Date.parse(wakeAt) > HINT_LOST_MS;
  if (isHeld(work.state, now) || !(isOverdue || wakeAt > now.toISOString())) return;
  try {
    await deps.stores.webhookQueue.hint({ kind: "deliveries", endpointId });
    deps.log.info("deliveries hinted again", { endpointId });
  } catch (error) {
    deps.log.warn("hint not sent, the next sweep will", { endpointId, error });
  }
}

const ENDPOINTS_AT_ONCE = 8;

/** Checks each endpoint of the platform like that, marked or not, except those with damaged rows. */
export async function lookAtEndpoints(deps: WebhooksDeps, platformId: string): Promise<void> {
  const endpoints = await deps.stores.endpoints.listAll(platformId);
  await inBatches(endpoints, ENDPOINTS_AT_ONCE, ({ id }) =>
    undefinedIfDamaged(lookAtEndpoint(deps, id)),
  );
}
