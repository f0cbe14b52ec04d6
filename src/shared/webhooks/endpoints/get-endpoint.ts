import type { PlatformScope } from "../../callers/scope.ts";
import { notFound } from "../../runtime/errors.ts";
import type { WebhooksDeps } from "../deps.ts";
import type { Endpoint } from "./endpoint.ts";

/** An endpoint of the platform, and of the scope's application where it has one. @throws AppError `not_found` */
export async function getEndpoint(
  services: WebhooksDeps,
  { platformId, applicationId }: PlatformScope,
  endpointId: string,
): Promise<Endpoint> {
  const endpoint = await services.endpoints.find(platformId, endpointId);
  if (endpoint === undefined) throw notFound();
  if (applicationId !== null && endpoint.applicationId !== applicationId) throw notFound();
  return endpoint;
}
