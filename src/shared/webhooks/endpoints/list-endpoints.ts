import { listViewOf } from "../../callers/caller.ts";
import type { PlatformScope } from "../../callers/scope.ts";
import { toPage, type Page } from "../../runtime/page.ts";
import type { WebhooksDeps } from "../deps.ts";
import { viewEndpoint, type EndpointView } from "./endpoint.ts";
import type { ListEndpoints } from "../schema.ts";

/**
 * The application's endpoints, or the platform's for a session that names none; newest first. A restricted key sees
 * neither addresses nor hints.
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
