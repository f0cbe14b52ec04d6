import { recordAudit } from "../../audit/record.ts";
import type { PlatformScope } from "../../callers/scope.ts";
import { notFound } from "../../runtime/errors.ts";
import type { WebhooksDeps } from "../deps.ts";
import { viewEndpoint, type EndpointView } from "./endpoint.ts";
import { getEndpoint } from "./get-endpoint.ts";

/** Nothing is sent to it any more: what is on its way ends as dead. Answers what it was. @throws AppError `not_found` */
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
