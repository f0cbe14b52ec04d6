import { priceOf } from "../ledger/ledger.ts";

import { actorOf, listViewOf } from "../callers/caller.ts";
import type { ApplicationScope, PlatformScope } from "../callers/scope.ts";
import { limitReached, notFound } from "../runtime/errors.ts";
import { newId } from "../runtime/ids.ts";
import type { WebhooksDeps } from "./deps.ts";
import {
  NO_RESULTS,
  viewEndpoint,
  type Endpoint,
  type EndpointWithSecret,
  endpointUrl,
  type EndpointView,
} from "./endpoints/endpoint.ts";
import { ENDPOINTS_MAX } from "./endpoints/endpoint-store.ts";
import { getEndpoint, requireActive } from "./endpoints/get-endpoint.ts";
import type { CreateEndpoint, UpdateEndpoint, ListEndpoints } from "./schema.ts";
import { newSigningSecret, secretHint } from "./endpoints/signature.ts";
import { wakeEndpoint, firstDelivery, queueDelivery } from "./deliveries/queue-delivery.ts";
import { toPage, type Page } from "../runtime/page.ts";
import { currentOrigin } from "../runtime/telemetry/work-context.ts";
import { viewDelivery, type DeliveryView } from "./deliveries/delivery.ts";
import { newEvent } from "../events/events.ts";

async function endpointViewOf({ stores, clock }: WebhooksDeps, endpoint: Endpoint) {
  return viewEndpoint(endpoint, await stores.pending.results(endpoint.id, clock.now()));
}

/**
 * Lists the application's endpoints, or the platform's for a session that names none, newest first. A restricted key
 * sees neither addresses nor hints.
 * @throws AppError `invalid_cursor`
 */
export async function listEndpoints(
  deps: WebhooksDeps,
  { caller, platformId, applicationId }: PlatformScope,
  { limit, cursor }: ListEndpoints,
): Promise<Page<EndpointView>> {
  const bound = { list: "webhooks", platformId, applicationId };
  const after = deps.cursors.read(cursor, bound);
  const listed = await deps.stores.endpoints.list(platformId, applicationId, { after, limit });
  const hidden = listViewOf(caller) === undefined ? {} : { url: null, secretHint: null };
  const items = await Promise.all(
    listed.items.map(async (endpoint) => ({
      ...(await endpointViewOf(deps, endpoint)),
      ...hidden,
    })),
  );
  return toPage(
    { items, next: listed.next },
    limit,
    (next) => deps.cursors.make(next, bound),
    (view) => view,
  );
}

/**
 * Registers an endpoint of the scope's application.
 * @throws AppError `validation_failed` on the address, `limit_reached`, 402
 */
export async function createEndpoint(
  deps: WebhooksDeps,
  scope: ApplicationScope,
  input: CreateEndpoint,
): Promise<EndpointWithSecret> {
  const { platformId, applicationId } = scope;
  const url = await endpointUrl(deps, scope, input.url);
  const now = deps.clock.now();
  const at = now.toISOString();
  const secret = newSigningSecret();
  const endpoint: Endpoint = {
    id: newId("endpoint", now),
    platformId,
    applicationId,
    url,
    description: input.description,
    events: input.events,
    status: "active",
    disabledReason: null,
    secretHint: secretHint(secret),
    createdAt: at,
    updatedAt: at,
  };
  if (
    !(await deps.stores.endpoints.create(endpoint, secret, {
      operation: "webhooks.create",
      tokens: priceOf("webhooks.create"),
      applicationId: scope.applicationId,
      profileId: null,
      postId: null,
      network: null,
      actor: actorOf(scope.caller),
      requestId: scope.requestId,
    }))
  )
    throw limitReached(
      `An application has at most ${ENDPOINTS_MAX} webhook endpoints. Delete one first.`,
    );
  const target = { type: "webhook", id: endpoint.id };
  deps.audit.record(scope, { action: "webhook.created", target });
  return { ...viewEndpoint(endpoint, NO_RESULTS), secret };
}

const DISABLED_REASON = "Disabled through the API.";

/**
 * Changes the named fields. An endpoint that is made active, or gets another address, starts without its earlier
 * failures, and all that waits for it is sent. So does one that is active already, because its receiver may have been
 * repaired.
 * @throws AppError `not_found`, `validation_failed` on the address
 */
export async function updateEndpoint(
  deps: WebhooksDeps,
  scope: PlatformScope,
  { webhookId, ...change }: UpdateEndpoint & { readonly webhookId: string },
): Promise<EndpointView> {
  const before = await getEndpoint(deps, scope, webhookId);
  const { platformId } = before;
  const { status } = change;
  const isTurned = status !== undefined && status !== before.status;
  const url = change.url === undefined ? undefined : await endpointUrl(deps, scope, change.url);
  const startsAnew = status === "active" || (url !== undefined && url !== before.url);
  // Before it is active, because one more failure must not disable it immediately.
  if (startsAnew) {
    await deps.wakes.mark("endpoint-check", webhookId, deps.clock.now());
    await deps.stores.endpointHealth.forgetFailures(webhookId);
  }
  const disabledReason = status === "active" ? null : DISABLED_REASON;
  const endpoint = await deps.stores.endpoints.update(
    platformId,
    webhookId,
    { ...change, url, ...(isTurned ? { disabledReason } : {}) },
    deps.clock.now().toISOString(),
  );
  if (endpoint === undefined) throw notFound();
  // Deliveries that were held back are sent.
  if (startsAnew) await wakeEndpoint(deps, webhookId);
  const target = { type: "webhook", id: webhookId };
  const { applicationId } = endpoint;
  deps.audit.record(scope, { action: "webhook.updated", target, applicationId });
  return endpointViewOf(deps, endpoint);
}

/** Deletes an endpoint and returns it was. Its pending deliveries end as dead. @throws AppError `not_found` */
export async function deleteEndpoint(
  deps: WebhooksDeps,
  scope: PlatformScope,
  webhookId: string,
): Promise<EndpointView> {
  const endpoint = await getEndpoint(deps, scope, webhookId);
  const view = await endpointViewOf(deps, endpoint);
  if (!(await deps.stores.endpoints.delete(endpoint))) throw notFound();
  const target = { type: "webhook", id: webhookId };
  const { applicationId } = endpoint;
  deps.audit.record(scope, { action: "webhook.deleted", target, applicationId });
  return view;
}

const BOTH_SIGN_MS = 24 * 60 * 60 * 1000;

/** Replaces the signing secret. The previous one also signs for a day. @throws AppError `not_found` */
export async function rotateSecret(
  deps: WebhooksDeps,
  scope: PlatformScope,
  webhookId: string,
): Promise<EndpointWithSecret> {
  const { platformId, applicationId } = await getEndpoint(deps, scope, webhookId);
  const now = deps.clock.now();
  const secret = newSigningSecret();
  const endpoint = await deps.stores.endpoints.rotateSecret(platformId, webhookId, secret, {
    at: now.toISOString(),
    previousUntil: new Date(now.getTime() + BOTH_SIGN_MS).toISOString(),
  });
  if (endpoint === undefined) throw notFound();
  const target = { type: "webhook", id: webhookId };
  deps.audit.record(scope, { action: "webhook.secret_rotated", target, applicationId });
  return { ...(await endpointViewOf(deps, endpoint)), secret };
}

/**
 * Sends a `webhook.test` event to this endpoint alone, independent of its subscriptions.
 * @throws AppError `not_found`, `invalid_state` while it is disabled
 */
export async function testEndpoint(
  deps: WebhooksDeps,
  scope: PlatformScope,
  webhookId: string,
): Promise<DeliveryView> {
  const endpoint = await getEndpoint(deps, scope, webhookId);
  requireActive(endpoint);
  const now = deps.clock.now();
  const { applicationId } = endpoint;
  const subject = { sequence: null, applicationId, profileId: null, postId: null };
  const event = newEvent(
    { type: "webhook.test", ...subject, data: {}, origin: currentOrigin() },
    now,
  );
  const delivery = firstDelivery(event, endpoint, now);
  await queueDelivery(deps, delivery, event);
  const target = { type: "webhook", id: webhookId };
  deps.audit.record(scope, { action: "webhook.tested", target, applicationId });
  return viewDelivery(delivery);
}
