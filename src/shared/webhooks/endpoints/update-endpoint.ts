import { recordAudit } from "../../audit/record.ts";
import type { PlatformScope } from "../../callers/scope.ts";
import { notFound } from "../../runtime/errors.ts";
import type { WebhooksDeps } from "../deps.ts";
import {
  viewEndpoint,
  type EndpointView,
  type EndpointWithSecret,
  endpointUrl,
} from "./endpoint.ts";
import { getEndpoint } from "./get-endpoint.ts";
import type { UpdateEndpoint } from "../schema.ts";
import { wakeEndpoint } from "../deliveries/queue-delivery.ts";
import { newSigningSecret } from "../deliveries/signature.ts";

const DISABLED_REASON = "Disabled through the API.";

/**
 * Changes what is named. An endpoint that is made active again, or moves to another address, starts without the
 * failures that it had.
 * @throws AppError `not_found`, `validation_failed` on the address
 */
export async function updateEndpoint(
  services: WebhooksDeps,
  scope: PlatformScope,
  { webhookId, ...change }: UpdateEndpoint & { readonly webhookId: string },
): Promise<EndpointView> {
  const before = await getEndpoint(services, scope, webhookId);
  const { platformId } = before;
  const { status } = change;
  const isTurned = status !== undefined && status !== before.status;
  const url = change.url === undefined ? undefined : await endpointUrl(services, change.url);
  const startsAnew = (isTurned && status === "active") || (url !== undefined && url !== before.url);
  // Before it is active: one more failure must not disable it at once.
  if (startsAnew) {
    await services.openWork.mark(webhookId, services.clock.now());
    await services.endpointHealth.forgetFailures(webhookId);
  }
  const disabledReason = status === "active" ? null : DISABLED_REASON;
  const endpoint = await services.endpoints.update(
    platformId,
    webhookId,
    { ...change, url, ...(isTurned ? { disabledReason } : {}) },
    services.clock.now().toISOString(),
  );
  if (endpoint === undefined) throw notFound();
  // What was held is sent.
  if (startsAnew) await wakeEndpoint(services, webhookId);
  const target = { type: "webhook", id: webhookId };
  const { applicationId } = endpoint;
  recordAudit(services, scope, { action: "webhook.updated", target, applicationId });
  return viewEndpoint(endpoint, await services.endpointHealth.find(webhookId));
}

/** Deletes an endpoint and returns it as it was. Its pending deliveries end as dead. @throws AppError `not_found` */
export async function deleteEndpoint(
  services: WebhooksDeps,
  scope: PlatformScope,
  webhookId: string,
): Promise<EndpointView> {
  const endpoint = await getEndpoint(services, scope, webhookId);
  const health = await services.endpointHealth.find(webhookId);
  if (!(await services.endpoints.delete(endpoint))) throw notFound();
  const target = { type: "webhook", id: webhookId };
  const { applicationId } = endpoint;
  recordAudit(services, scope, { action: "webhook.deleted", target, applicationId });
  return viewEndpoint(endpoint, health);
}

const BOTH_SIGN_MS = 24 * 60 * 60 * 1000;

/** Replaces the signing secret; the previous one also signs for a day. @throws AppError `not_found` */
export async function rotateSecret(
  services: WebhooksDeps,
  scope: PlatformScope,
  webhookId: string,
): Promise<EndpointWithSecret> {
  const { platformId, applicationId } = await getEndpoint(services, scope, webhookId);
  const now = services.clock.now();
  const secret = newSigningSecret();
  const endpoint = await services.endpoints.rotateSecret(platformId, webhookId, secret, {
    at: now.toISOString(),
    previousUntil: new Date(now.getTime() + BOTH_SIGN_MS).toISOString(),
  });
  if (endpoint === undefined) throw notFound();
  const target = { type: "webhook", id: webhookId };
  recordAudit(services, scope, { action: "webhook.secret_rotated", target, applicationId });
  const health = await services.endpointHealth.find(webhookId);
  return { ...viewEndpoint(endpoint, health), secret };
}
