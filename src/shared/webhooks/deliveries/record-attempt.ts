import type { WebhooksDeps } from "../deps.ts";
import {
  circuitOf,
  NO_FAILURES,
  withFailure,
  type EndpointState,
} from "../endpoints/endpoint-health-store.ts";
import { isAbandoned } from "../endpoints/endpoint.ts";
import { shownTime } from "../../mail/mail.ts";
import { nextAttemptSeconds, type Delivery } from "./delivery.ts";
import { deliveryKey, toDeliveryRow } from "./delivery-row.ts";
import type { Drain, Item } from "./drain.ts";
import { pendingWrite, scheduled, type PendingDelivery } from "./pending-store.ts";
import type { DeliveryAttempt } from "./send-delivery.ts";

/** Why endpoints are disabled, by the name of the text in mails. */
const REASONS = {
  gone: "The receiver answered 410 Gone.",
  abandoned: "Nothing could be delivered for 5 days.",
} as const;

/** Returns the number of attempts: the first, and one after each delay of the schedule. */
export const attemptsMax = ({ config }: WebhooksDeps) => config.webhooks.retrySeconds.length + 1;

/** Writes a delivery and its pending row. Returns undefined when it was changed meanwhile. */
async function write(
  { writer }: Drain,
  { pending, etag }: Item,
  delivery: Delivery,
  next: PendingDelivery | undefined,
): Promise<Item | undefined> {
  const isSame = next?.key === pending.key;
  const etags = await writer.write([
    { kind: "merge", row: toDeliveryRow(delivery), etag },
    ...(isSame ? [] : [{ kind: "delete", rowKey: pending.key } as const]),
    ...(isSame || next === undefined ? [] : [pendingWrite(next)]),
  ]);
  const version = etags?.get(deliveryKey(delivery.id));
  return version === undefined ? undefined : { pending: next ?? pending, delivery, etag: version };
}

/** Counts an attempt before its call, so that one that ends the process counts too. */
export function claimAttempt(drain: Drain, item: Item): Promise<Item | undefined> {
  const { delivery, pending } = item;
  const claimed = { ...delivery, attempts: delivery.attempts + 1 };
  return write(drain, item, claimed, pending);
}

/** Ends the delivery as dead. `isFinal`: it can't be redriven either. */
export async function endAsDead(
  drain: Drain,
  item: Item,
  last: Partial<Delivery>,
  isFinal = false,
): Promise<void> {
  const { clock } = drain.deps;
  const { deadDeliveries } = drain.deps.stores;
  const diedAt = clock.now().toISOString();
  if (!isFinal) await deadDeliveries.add(item.delivery, diedAt);
  const ended = { status: "dead", nextAttemptAt: null, diedAt } as const;
  await write(drain, item, { ...item.delivery, ...last, ...ended }, undefined);
}

function lastOf(attempt: DeliveryAttempt): Partial<Delivery> {
  return {
    lastStatusCode: attempt.statusCode,
    lastError: attempt.error,
    durationMs: attempt.durationMs,
    responseBody: attempt.responseBody,
  };
}

/** Adds the attempt to the entries for its post's timeline. */
function noteAttempt({ steps, deps }: Drain, delivery: Delivery, attempt: DeliveryAttempt): void {
  if (delivery.postId === null) return;
  const step = {
    at: deps.clock.now().toISOString(),
    step: "webhook_sent",
    platform: null,
    attempt: delivery.attempts,
    outcome: attempt.error ?? "ok",
    durationMs: attempt.durationMs,
    networkStatus: attempt.statusCode,
    networkCode: null,
    note: delivery.eventType,
    webhookId: delivery.endpointId,
    deliveryId: delivery.id,
  } as const;
  const known = steps.get(delivery.postId);
  if (known === undefined) steps.set(delivery.postId, [step]);
  else known.push(step);
}

/** Changes the endpoint's state, and reports a circuit that opens or closes with it. */
async function saveHealth(
  { deps, lease, endpointId }: Drain,
  { platformId }: Delivery,
  change: (state: EndpointState) => Partial<EndpointState>,
): Promise<void> {
  let wasOpen = false;
  await lease.save((state) => {
    wasOpen = circuitOf(state) !== null;
    return change(state);
  });
  const isOpen = circuitOf(lease.state) !== null;
  if (isOpen === wasOpen) return;
  deps.work.metrics.count("webhooks.circuits", { change: isOpen ? "opened" : "closed" });
  if (isOpen) deps.log.warn("webhook circuit opened", { platformId, endpointId });
  else deps.log.info("webhook circuit closed", { platformId, endpointId });
}

async function recordSuccess(drain: Drain, item: Item, attempt: DeliveryAttempt): Promise<void> {
  const { deps, lease } = drain;
  const deliveredAt = deps.clock.now().toISOString();
  drain.succeededAt = deliveredAt;
  const ended = { status: "succeeded", nextAttemptAt: null, deliveredAt } as const;
  await write(drain, item, { ...item.delivery, ...lastOf(attempt), ...ended }, undefined);
  // The success of a healthy endpoint is written when the drain ends.
  if (lease.state.failures === 0 && circuitOf(lease.state) === null) return;
  await saveHealth(drain, item.delivery, () => ({ ...NO_FAILURES, lastSuccessAt: deliveredAt }));
}

/** Disables the endpoint and notifies the owners of its platform. */
async function disable(
  drain: Drain,
  { platformId }: Delivery,
  reason: keyof typeof REASONS,
): Promise<void> {
  const { deps, endpointId } = drain;
  const at = deps.clock.now().toISOString();
  const disabledReason = REASONS[reason];
  drain.opened = undefined;
  const isDisabled = await deps.mail.writeAndTell(platformId, async () => {
    const { endpoints } = deps.stores;
    const found = await endpoints.findToDisable(platformId, endpointId, { disabledReason, at });
    if (found === undefined) return undefined;
    const { applicationId: application, url } = found.endpoint;
    // Its path may have a secret.
    const { host: endpoint } = new URL(url);
    const values = { at: shownTime(at), endpoint, application, reason };
    return { writes: [found.write], happenings: [{ notice: "endpointDisabled", values }] };
  });
  if (isDisabled)
    deps.log.warn("webhook endpoint disabled", {
      platformId,
      endpointId,
      reason: disabledReason,
    });
}

async function recordFailure(drain: Drain, item: Item, attempt: DeliveryAttempt): Promise<void> {
  const { deps, lease, postponed } = drain;
  const { delivery } = item;
  const { retrySeconds } = deps.config.webhooks;
  // Before the delivery ends. After a crash in between, the endpoint is found disabled and the delivery ends then.
  if (attempt.isGone) await disable(drain, delivery, "gone");
  const seconds = attempt.isGone
    ? null
    : nextAttemptSeconds(retrySeconds, delivery.attempts, Math.random(), attempt.retryAfterSeconds);
  const last = lastOf(attempt);
  if (seconds === null) await endAsDead(drain, item, last);
  else {
    const at = new Date(deps.clock.now().getTime() + seconds * 1000).toISOString();
    postponed.push(at);
    const after = { ...delivery, ...last, nextAttemptAt: at };
    await write(drain, item, after, scheduled(delivery.id, at));
  }
  const now = deps.clock.now();
  await saveHealth(drain, delivery, (state) => withFailure(state, now));
  if (isAbandoned(lease.state, now)) await disable(drain, delivery, "abandoned");
}

/** Returns the outcome as metrics count it. Statuses are counted by class, because labels have few values. */
function outcomeOf({ error, statusCode }: DeliveryAttempt): string {
  if (error === null) return "ok";
  return statusCode === null ? error : `http_${Math.floor(statusCode / 100)}xx`;
}

/** Records the result of an attempt, in the delivery and in the state of its endpoint. */
export function recordAttempt(drain: Drain, item: Item, attempt: DeliveryAttempt): Promise<void> {
  const { deps } = drain;
  const { delivery } = item;
  const { statusCode, error, durationMs } = attempt;
  const fields = {
    delivery: delivery.id,
    endpoint: delivery.endpointId,
    attempt: delivery.attempts,
  };
  deps.work.metrics.count("webhooks.attempted", { outcome: outcomeOf(attempt) });
  deps.work.metrics.observe("webhooks.attempt_ms", durationMs, {});
  deps.log.info("webhook attempt", { ...fields, statusCode, error, durationMs });
  noteAttempt(drain, delivery, attempt);
  return error === null ? recordSuccess(drain, item, attempt) : recordFailure(drain, item, attempt);
}
