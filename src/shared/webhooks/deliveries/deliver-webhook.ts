import { invariant } from "../../runtime/errors.ts";
import { isId, timeOfId } from "../../runtime/ids.ts";
import type { WebhooksDeps } from "../deps.ts";
import { continueWork } from "../../runtime/telemetry/work-context.ts";
import { deliveryStep, type Delivery, type DeliveryError, nextAttemptSeconds } from "./delivery.ts";
import type { DeliveryHint } from "./delivery-queue.ts";
import type { StoredDelivery } from "./delivery-store.ts";
import { addDueDelivery, hintDueDelivery, type DueDelivery } from "./queue-delivery.ts";
import { isAbandoned } from "../endpoints/endpoint.ts";
import { closeCircuit, waitUntil, openCircuit } from "../endpoints/endpoint-circuit.ts";
import type { OpenedEndpoint } from "../endpoints/endpoint-store.ts";
import type { Event } from "../events/event.ts";
import { isRelease, releaseWaiting } from "./release-waiting.ts";
import { sendDelivery, type Attempt } from "./send-delivery.ts";

/** A worker's lease outlasts its longest call by this much. */
const LEASE_BEYOND_CALL_MS = 20_000;
/** How old a delivery's id has to be before a due row without a delivery is removed: it may yet be written. */
const ORPHAN_MS = 10 * 60 * 1000;
const GONE_REASON = "The receiver answered 410 Gone.";
const ABANDONED_REASON = "Nothing could be delivered for 5 days.";

/** The first attempt, and one after each delay of the schedule. */
const attemptsMax = ({ config }: WebhooksDeps) => config.webhooks.retrySeconds.length + 1;

/** A delivery that a worker handles, with its due row. */
interface Work {
  readonly services: WebhooksDeps;
  readonly due: DueDelivery;
  readonly stored: StoredDelivery;
}

/** The work with the state of its endpoint's circuit before the attempt. */
interface Call extends Work {
  readonly isCircuitOpen: boolean;
}

/** Writes the changed delivery and removes its due row. Returns false when another worker wrote it first. */
async function write({ services, due, stored }: Work, delivery: Delivery): Promise<boolean> {
  const written = await services.deliveries.replaceIfUnchanged(delivery, stored.etag);
  if (written !== undefined) await services.dueDeliveries.remove(due);
  return written !== undefined;
}

/** Ends the delivery as dead. `isFinal`: it can't be redriven either. */
async function endAsDead(work: Work, last: Partial<Delivery>, isFinal = false): Promise<void> {
  const { services, stored } = work;
  const diedAt = services.clock.now().toISOString();
  if (!isFinal) await services.deadDeliveries.add(stored.delivery, diedAt);
  const ended = { status: "dead", nextAttemptAt: null, leaseUntil: null, diedAt } as const;
  await write(work, { ...stored.delivery, ...last, ...ended });
}

/** Returns why the delivery ends without a call; undefined when a call can be made. */
function obstacle(
  opened: OpenedEndpoint | undefined,
  event: Event | undefined,
): DeliveryError | undefined {
  if (opened === undefined) return "endpoint_deleted";
  if (opened.endpoint.status === "disabled") return "endpoint_disabled";
  return event === undefined ? "event_expired" : undefined;
}

function lastOf(attempt: Attempt): Partial<Delivery> {
  return {
    lastStatusCode: attempt.statusCode,
    lastError: attempt.error,
    durationMs: attempt.durationMs,
    responseBody: attempt.responseBody,
  };
}

async function recordSuccess(work: Call, attempt: Attempt): Promise<void> {
  const { services, stored, isCircuitOpen } = work;
  const now = services.clock.now();
  await write(work, {
    ...stored.delivery,
    ...lastOf(attempt),
    status: "succeeded",
    nextAttemptAt: null,
    leaseUntil: null,
    deliveredAt: now.toISOString(),
  });
  await services.endpointHealth.noteSuccess(stored.delivery.endpointId, now, isCircuitOpen);
  if (isCircuitOpen) await closeCircuit(services, stored.delivery);
}

/** Moves the delivery to a later time. Writes the due row first, so that no crash leaves a delivery without one. */
async function postpone(work: Work, dueAt: string, change: Partial<Delivery>): Promise<void> {
  const { services, stored } = work;
  const due = { ref: work.due.ref, dueAt };
  await addDueDelivery(services, due);
  const after = { ...stored.delivery, ...change, nextAttemptAt: dueAt, leaseUntil: null };
  if (await write(work, after)) await hintDueDelivery(services, due);
}

async function recordFailure(work: Work, attempt: Attempt): Promise<void> {
  const { services, stored } = work;
  const { delivery } = stored;
  const { retrySeconds } = services.config.webhooks;
  const seconds = attempt.isGone
    ? null
    : nextAttemptSeconds(retrySeconds, delivery.attempts, Math.random(), attempt.retryAfterSeconds);
  const last = lastOf(attempt);
  if (seconds === null) return endAsDead(work, last);
  const dueAt = new Date(services.clock.now().getTime() + seconds * 1000).toISOString();
  await postpone(work, dueAt, last);
}

async function disable(services: WebhooksDeps, delivery: Delivery, reason: string): Promise<void> {
  const { platformId, endpointId } = delivery;
  const at = services.clock.now().toISOString();
  if (await services.endpoints.disable(platformId, endpointId, reason, at))
    services.log.warn("webhook endpoint disabled", { platformId, endpointId, reason });
}

/** Adds the attempt to the timeline of its post; best effort. */
async function appendToTimeline(
  services: WebhooksDeps,
  delivery: Delivery,
  attempt: Attempt,
): Promise<void> {
  if (delivery.postId === null) return;
  const step = {
    at: services.clock.now().toISOString(),
    step: "webhook_sent",
    platform: null,
    attempt: delivery.attempts,
    outcome: attempt.error ?? "ok",
    durationMs: attempt.durationMs,
    networkStatus: attempt.statusCode,
    networkCode: null,
    note: `${delivery.eventType} to ${delivery.endpointId}`,
  } as const;
  try {
    await services.timeline.append(delivery.postId, delivery.id, [step]);
  } catch (error) {
    services.log.warn("timeline not written", { postId: delivery.postId, error });
  }
}

/** Returns the outcome as metrics count it: statuses by their class alone, since labels have few values. */
function outcomeOf({ error, statusCode }: Attempt): string {
  if (error === null) return "ok";
  return statusCode === null ? error : `http_${Math.floor(statusCode / 100)}xx`;
}

async function record(work: Call, attempt: Attempt): Promise<void> {
  const { services, stored, isCircuitOpen } = work;
  const { delivery } = stored;
  const { statusCode, error, durationMs } = attempt;
  const fields = {
    delivery: delivery.id,
    endpoint: delivery.endpointId,
    attempt: delivery.attempts,
  };
  services.metrics.count("webhooks.attempted", { outcome: outcomeOf(attempt) });
  services.metrics.observe("webhooks.attempt_ms", durationMs, {});
  services.log.info("webhook attempt", { ...fields, statusCode, error, durationMs });
  if (error === null) return recordSuccess(work, attempt);
  // Before the delivery ends: a crash in between finds the endpoint disabled and ends it then.
  if (attempt.isGone) await disable(services, delivery, GONE_REASON);
  await recordFailure(work, attempt);
  const now = services.clock.now();
  const health = await services.endpointHealth.noteFailure(delivery.endpointId, now);
  if (health.circuit !== null && !isCircuitOpen) await openCircuit(services, delivery);
  if (isAbandoned(health, now)) await disable(services, delivery, ABANDONED_REASON);
}

/** Delays the delivery while its circuit is open. Closing the circuit sends it earlier; `until` is the latest time. */
async function delayWhileOpen(work: Work, until: string): Promise<void> {
  const { services, due, stored } = work;
  if (stored.delivery.nextAttemptAt === until) return wait(services, due, until);
  await postpone(work, until, { lastError: "endpoint_failing" });
}

/** Leases the delivery for the duration of a call; undefined when another worker was first. */
async function claim(work: Work, now: Date): Promise<Work | undefined> {
  const { services, due, stored } = work;
  const { delivery, etag } = stored;
  const at = now.toISOString();
  const leaseMs = services.config.webhooks.timeoutMs + LEASE_BEYOND_CALL_MS;
  const leaseUntil = new Date(now.getTime() + leaseMs).toISOString();
  const taken = { ...delivery, attempts: delivery.attempts + 1, leaseUntil };
  if (delivery.nextAttemptAt === null || delivery.nextAttemptAt <= at) {
    const claimed = await services.deliveries.replaceIfUnchanged(taken, etag);
    return claimed && { ...work, stored: claimed };
  }
  // It no longer has to wait: should this worker die, it is due when the lease ends and not much later.
  const dueNow = { ref: due.ref, dueAt: at };
  await addDueDelivery(services, dueNow);
  const claimed = await services.deliveries.replaceIfUnchanged(
    { ...taken, nextAttemptAt: at },
    etag,
  );
  if (claimed === undefined) return undefined;
  await services.dueDeliveries.remove(due);
  return { services, due: dueNow, stored: claimed };
}

async function attempt(work: Work): Promise<void> {
  const { services, stored } = work;
  const { delivery } = stored;
  const { platformId, applicationId, endpointId, eventId } = delivery;
  const now = services.clock.now();
  const [opened, event] = await Promise.all([
    services.endpoints.open(platformId, endpointId, now),
    services.events.find(applicationId, eventId),
  ]);
  const lastError = obstacle(opened, event);
  if (lastError !== undefined)
    return endAsDead(work, { lastError }, lastError !== "endpoint_disabled");
  invariant(opened !== undefined && event !== undefined, "a delivery without its parts");
  invariant(opened.secrets.length > 0, "the endpoint's secret can't be opened");
  const { isCircuitOpen } = opened;
  const until = await waitUntil(services, delivery, isCircuitOpen);
  if (until !== null) return delayWhileOpen(work, until);
  const claimed = await claim(work, now);
  if (claimed === undefined) return;
  const made = await sendDelivery(services, opened, claimed.stored.delivery, event);
  await record({ ...claimed, isCircuitOpen }, made);
  await appendToTimeline(services, claimed.stored.delivery, made);
}

/** Sends an early hint again for the rest of the delay. Removes the row when the delivery is due at another time. */
async function wait(services: WebhooksDeps, due: DueDelivery, at: string): Promise<void> {
  if (due.dueAt === at) await hintDueDelivery(services, due);
  else await services.dueDeliveries.remove(due);
}

async function handleDue(services: WebhooksDeps, due: DueDelivery): Promise<void> {
  const stored = await services.deliveries.find(due.ref);
  const now = services.clock.now();
  if (stored === undefined) {
    // Not by `dueAt`, which moves on with every hint that is sent again.
    const { deliveryId } = due.ref;
    const isYoung =
      isId("delivery", deliveryId) && now.getTime() - timeOfId("delivery", deliveryId) <= ORPHAN_MS;
    if (!isYoung) await services.dueDeliveries.remove(due);
    return;
  }
  const { origin, platformId, postId } = stored.delivery;
  const whose = { platformId, ...(postId === null ? {} : { postId }) };
  await continueWork(origin, whose, () => takeStep({ services, due, stored }));
}

async function takeStep(work: Work): Promise<void> {
  const { services, due, stored } = work;
  const step = deliveryStep(stored.delivery, attemptsMax(services), services.clock.now());
  switch (step.kind) {
    case "ended":
      return services.dueDeliveries.remove(due);
    case "taken":
      return;
    case "later":
      return wait(services, due, step.at);
    case "attempt":
      return attempt(work);
    case "give_up":
      return endAsDead(work, { lastError: "interrupted" });
  }
}

/**
 * Makes one attempt of a delivery that is due. Delivers at least once: after a crash between the call and its record,
 * the receiver is called again with the same `webhook-id`. Deliveries beyond an endpoint's limit return to the queue.
 */
export async function deliverWebhook(services: WebhooksDeps, hint: DeliveryHint): Promise<void> {
  const { endpointId, deliveryId, dueAt } = hint;
  const due = { ref: { endpointId, deliveryId }, dueAt };
  if (isRelease(due.ref)) return releaseWaiting(services, due);
  const slot = services.deliverySlots.take(endpointId);
  if (slot === undefined) {
    const seconds = services.deliverySlots.secondsToWait(endpointId);
    return services.deliveryQueue.hint({ ...due.ref, dueAt }, seconds);
  }
  try {
    await handleDue(services, due);
  } finally {
    slot.release();
  }
}
