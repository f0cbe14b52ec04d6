import { boundToView, listViewOf } from "../../callers/caller.ts";
import type { PlatformScope } from "../../callers/scope.ts";
import { toPage, type Page } from "../../runtime/page.ts";
import type { WebhooksDeps } from "../deps.ts";
import { viewDelivery, waitsForCircuit, type Delivery, type DeliveryView } from "./delivery.ts";
import { getEndpoint } from "../endpoints/get-endpoint.ts";
import type { ListDeliveries } from "../schema.ts";

const isWaiting = (delivery: Delivery) =>
  delivery.status === "pending" && waitsForCircuit(delivery);

/**
 * Lists an endpoint's deliveries, newest first. A restricted key sees those about its profiles.
 * @throws AppError `not_found`, `invalid_cursor`
 */
export async function listDeliveries(
  services: WebhooksDeps,
  scope: PlatformScope,
  { webhookId, limit, cursor, ...filter }: ListDeliveries & { readonly webhookId: string },
): Promise<Page<DeliveryView>> {
  const { id } = await getEndpoint(services, scope, webhookId);
  const allowed = listViewOf(scope.caller);
  const bound = { list: "deliveries", webhookId: id, ...filter, ...boundToView(allowed) };
  const after = services.cursors.read(cursor, bound);
  const listed = await services.stores.deliveries.list(
    id,
    { ...filter, profileIds: allowed?.profileIds },
    { after, limit },
  );
  const circuit = listed.items.some(isWaiting)
    ? await services.stores.endpointHealth.findCircuit(id)
    : null;
  const view = (delivery: Delivery): DeliveryView =>
    circuit !== null && isWaiting(delivery)
      ? { ...viewDelivery(delivery), lastError: "endpoint_failing", nextAttemptAt: circuit.probeAt }
      : viewDelivery(delivery);
  return toPage(listed, limit, (next) => services.cursors.make(next, bound), view);
}
