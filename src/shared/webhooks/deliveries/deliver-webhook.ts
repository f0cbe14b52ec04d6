import { invariant } from "../../runtime/errors.ts";
import { isId, timeOfId } from "../../runtime/ids.ts";
import type { WebhooksDeps } from "../deps.ts";
import { continueWork } from "../../runtime/telemetry/work-context.ts";
import { nextStep, type Delivery, type DeliveryError, nextAttemptSeconds } from "./delivery.ts";
import type { DeliveryHint } from "./delivery-queue.ts";
import type { StoredDelivery } from "./delivery-store.ts";
import { addDueDelivery, hintDueDelivery, type DueDelivery } from "./queue-delivery.ts";
import { isAbandoned } from "../endpoints/endpoint.ts";
import { closeCircuit, heldUntil, openCircuit } from "../endpoints/endpoint-circuit.ts";
import type { OpenedEndpoint } from "../endpoints/endpoint-store.ts";
import type { Event } from "../events/event.ts";
import { isRelease, releaseWaiting } from "./release-waiting.ts";
import { sendDelivery, type Attempt } from "./send-delivery.ts";

/** A worker's lease outlasts its longest call by this much. */
const LEASE_BEYOND_CALL_MS = 20_000;
/** A due row without a delivery is left alone this long after the delivery got its id: it may be on its way. */
const ORPHAN_MS = 10 * 60 * 1000;
const GONE_REASON = "The receiver answered 410 Gone.";
const ABANDONED_REASON = "Nothing could be delivered for 5 days.";

/** The first attempt, and one after each delay of the schedule. */
const attemptsMax = ({ config }: WebhooksDeps) => config.webhooks.retrySeconds.length + 1;

/** A delivery in the hands of one worker, with the row that brought it here. */
interface Work {
  readonly services: WebhooksDeps;
  readonly due: DueDelivery;
  readonly stored: StoredDelivery;
}

/** What was learnt of an attempt's endpoint before it was made. */
interface Call extends Work {
  readonly isCircuitOpen: boolean;
}

/** Writes what the delivery has become; when another worker took it meanwhile, that one's word counts. */
async function write({ services, due, stored }: Work, delivery: Delivery): Promise<boolean> {
  const written = await services.deliveries.replaceIfUnchanged(delivery, stored.etag);
  if (written !== undefined) await services.dueDeliveries.remove(due);
  return written !== undefined;
}

/** No further attempt is made. `isFinal`: nor can one be made by a redrive. */
async function die(work: Work, last: Partial<Delivery>, isFinal = false): Promise<void> {
  const { services, stored } = work;
  const diedAt = services.clock.now().toISOString();
  if (!isFinal) await services.deadDeliveries.add(stored.delivery, diedAt);
  const ended = { status: "dead", nextAttemptAt: null, leaseUntil: null, diedAt } as const;
  await write(work, { ...stored.delivery, ...last, ...ended });
}

/** Why the delivery ends without a call, where it does. */
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

/** The time of the next look is kept before the delivery says so: no crash leaves it without either. */
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
  if (seconds === null) return die(work, last);
  const dueAt = new Date(services.clock.now().getTime() + seconds * 1000).toISOString();
  await postpone(work, dueAt, last);
}

async function disable(services: WebhooksDeps, delivery: Delivery, reason: string): Promise<void> {
  const { platformId, endpointId } = delivery;
  const at = services.clock.now().toISOString();
  if (await services.endpoints.disable(platformId, endpointId, reason, at))
    services.log.warn("webhook endpoint disabled", { platformId, endpointId, reason });
}

/** For people who look for what became of a post; best effort. */
async function note(services: WebhooksDeps, delivery: Delivery, attempt: Attempt): Promise<void> {
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

/** As it is counted: of a receiver's many ways to refuse the kind alone. */
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

/** It waits until its endpoint is well, which whoever delivers to it says; to look again is for when nobody does. */
async function hold(work: Work, until: string): Promise<void> {
  const { services, due, stored } = work;
  if (stored.delivery.nextAttemptAt === until) return wait(services, due, until);
  await postpone(work, until, { lastError: "endpoint_failing" });
}

/** The delivery as this worker's, for as long as a call takes; undefined when another one was first. */
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
  // It waited and need not any more: should this worker die, somebody has to look after the lease and not much later.
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
  if (lastError !== undefined) return die(work, { lastError }, lastError !== "endpoint_disabled");
  invariant(opened !== undefined && event !== undefined, "a delivery without its parts");
  invariant(opened.secrets.length > 0, "the endpoint's secret can't be opened");
  const { isCircuitOpen } = opened;
  const until = await heldUntil(services, delivery, isCircuitOpen);
  if (until !== null) return hold(work, until);
  const claimed = await claim(work, now);
  if (claimed === undefined) return;
  const made = await sendDelivery(services, opened, claimed.stored.delivery, event);
  await record({ ...claimed, isCircuitOpen }, made);
  await note(services, claimed.stored.delivery, made);
}

/** A hint that came early is sent again for the rest; a stray one of another time is no longer needed. */
async function wait(services: WebhooksDeps, due: DueDelivery, at: string): Promise<void> {
  if (due.dueAt === at) await hintDueDelivery(services, due);
  else await services.dueDeliveries.remove(due);
}

async function attend(services: WebhooksDeps, due: DueDelivery): Promise<void> {
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
  await continueWork(origin, whose, () => moveOn({ services, due, stored }));
}

async function moveOn(work: Work): Promise<void> {
  const { services, due, stored } = work;
  const step = nextStep(stored.delivery, attemptsMax(services), services.clock.now());
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
      return die(work, { lastError: "interrupted" });
  }
}

/**
 * One attempt of a delivery that is due. At least once: after a crash between the call and its record the receiver is
 * called again with the same `webhook-id`. Too many at once to one endpoint are put back and cost nobody else time.
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
    await attend(services, due);
  } finally {
    slot.release();
  }
}
