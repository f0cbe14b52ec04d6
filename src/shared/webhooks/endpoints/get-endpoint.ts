import type { PlatformScope } from "../../callers/scope.ts";
import { notFound, AppError } from "../../runtime/errors.ts";
import type { WebhooksDeps } from "../deps.ts";
import { type Endpoint, viewEndpoint, type EndpointView } from "./endpoint.ts";
import { listViewOf } from "../../callers/caller.ts";
import { toPage, type Page } from "../../runtime/page.ts";
import type { ListEndpoints } from "../schema.ts";

/** Returns an endpoint of the platform, or of the application that the scope names. @throws AppError `not_found` */
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

/**
 * Lists the application's endpoints, or the platform's for a session that names none; newest first. A restricted key
 * sees neither addresses nor hints.
 * @throws AppError `invalid_cursor`
 */
export async function listEndpoints(
  services: WebhooksDeps,
  { caller, platformId, applicationId }: PlatformScope,
  { limit, cursor }: ListEndpoints,
): Promise<Page<EndpointView>> {
  const bound = { list: "webhooks", platformId, applicationId };
  const after = services.cursors.read(cursor, bound);
  const listed = await services.endpoints.list(platformId, applicationId, { after, limit });
  const hidden = listViewOf(caller) === undefined ? {} : { url: null, secretHint: null };
  const items = await Promise.all(
    listed.items.map(async (endpoint) => ({
      ...viewEndpoint(endpoint, await services.endpointHealth.find(endpoint.id)),
      ...hidden,
    })),
  );
  return toPage(
    { items, next: listed.next },
    limit,
    (next) => services.cursors.make(next, bound),
    (view) => view,
  );
}

/** Requires that the endpoint is active. @throws AppError `invalid_state` */
export function requireActive({ status }: Endpoint): void {
  if (status === "active") return;
  const message = "The webhook endpoint is disabled. Make it active first.";
  throw new AppError("invalid_state", message, { details: { status } });
}
