import { recordAudit } from "../../audit/record.ts";
import type { PlatformScope } from "../../callers/scope.ts";
import { notFound } from "../../runtime/errors.ts";
import type { WebhooksDeps } from "../deps.ts";
import { viewEndpoint, type EndpointWithSecret } from "./endpoint.ts";
import { getEndpoint } from "./get-endpoint.ts";
import { newSigningSecret } from "../deliveries/signature.ts";

const BOTH_SIGN_MS = 24 * 60 * 60 * 1000;

/** A new secret; the one before signs along for a day. @throws AppError `not_found` */
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
