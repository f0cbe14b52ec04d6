import type { PlatformScope } from "../../callers/scope.ts";
import { AppError, notFound } from "../../runtime/errors.ts";
import type { WebhooksDeps } from "../deps.ts";
import type { Endpoint } from "./endpoint.ts";

/** Returns an endpoint of the platform, or of the application that the scope names. @throws AppError `not_found` */
export async function getEndpoint(
  deps: WebhooksDeps,
  { platformId, applicationId }: PlatformScope,
  endpointId: string,
): Promise<Endpoint> {
  const endpoint = await deps.stores.endpoints.find(platformId, endpointId);
  if (endpoint === undefined) throw notFound();
  if (applicationId !== null && endpoint.applicationId !== applicationId) throw notFound();
  return endpoint;
}

export function requireActive({ status }: Endpoint): void {
  if (status === "active") return;
  const message = "The webhook endpoint is disabled. Make it active first.";
  throw new AppError("invalid_state", message, { details: { status } });
}
