import { recordAudit } from "../../audit/record.ts";
import { charge, requireTokens } from "../../billing/charge.ts";
import { priceOf } from "../../billing/rate-card.ts";
import { actorOf } from "../../callers/caller.ts";
import type { ApplicationScope } from "../../callers/scope.ts";
import { AppError } from "../../runtime/errors.ts";
import { newId } from "../../runtime/ids.ts";
import type { WebhooksDeps } from "../deps.ts";
import {
  HEALTHY,
  viewEndpoint,
  type Endpoint,
  type EndpointWithSecret,
  endpointUrl,
} from "./endpoint.ts";
import { ENDPOINTS_MAX } from "./endpoint-store.ts";
import type { CreateEndpoint } from "../schema.ts";
import { newSigningSecret, secretHint } from "../deliveries/signature.ts";

async function pay(services: WebhooksDeps, scope: ApplicationScope, id: string): Promise<void> {
  await charge(services, scope.platformId, {
    operationId: `webhook|${id}`,
    operation: "webhooks.create",
    tokens: priceOf("webhooks.create"),
    applicationId: scope.applicationId,
    profileId: null,
    postId: null,
    network: null,
    actor: actorOf(scope.caller),
    requestId: scope.requestId,
  });
}

/**
 * Registers an endpoint of the scope's application. It is stored before it is charged and removed when the charge is
 * refused: a crash in between leaves it uncharged.
 * @throws AppError `validation_failed` on the address, `limit_reached`, 402
 */
export async function createEndpoint(
  services: WebhooksDeps,
  scope: ApplicationScope,
  input: CreateEndpoint,
): Promise<EndpointWithSecret> {
  const { platformId, applicationId } = scope;
  const url = await endpointUrl(services, input.url);
  await requireTokens(services, platformId, priceOf("webhooks.create"));
  const now = services.clock.now();
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
  if (!(await services.endpoints.create(endpoint, secret)))
    throw new AppError(
      "limit_reached",
      `An application has at most ${ENDPOINTS_MAX} webhook endpoints. Delete one first.`,
    );
  try {
    await pay(services, scope, endpoint.id);
  } catch (error) {
    // The charge may have succeeded: the endpoint stays.
    if (error instanceof AppError && error.code !== "service_unavailable")
      await services.endpoints.delete(endpoint);
    throw error;
  }
  const target = { type: "webhook", id: endpoint.id };
  recordAudit(services, scope, { action: "webhook.created", target });
  return { ...viewEndpoint(endpoint, HEALTHY), secret };
}
