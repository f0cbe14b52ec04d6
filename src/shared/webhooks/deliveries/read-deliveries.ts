import { boundToView, listViewOf } from "../../callers/caller.ts";
import type { PlatformScope } from "../../callers/scope.ts";
import { notFound } from "../../runtime/errors.ts";
import { toPage, type Page } from "../../runtime/page.ts";
import { undefinedIfDamaged } from "../../runtime/storage/damaged-row.ts";
import type { WebhooksDeps } from "../deps.ts";
import { getEndpoint } from "../endpoints/get-endpoint.ts";
import type { ListDeliveries } from "../schema.ts";
import { viewDelivery, waitsForCircuit, type Delivery, type DeliveryView } from "./delivery.ts";
import { deliveryBody, deliveryHeaders } from "./send-delivery.ts";

const isWaiting = (delivery: Delivery) =>
  delivery.status === "pending" && waitsForCircuit(delivery);

/** Returns what shows an endpoint's deliveries. Those that wait for the endpoint have its next attempt. */
async function deliveryViewer(
  deps: WebhooksDeps,
  endpointId: string,
  shown: readonly Delivery[],
): Promise<(delivery: Delivery) => DeliveryView> {
  const circuit = shown.some(isWaiting)
    ? await deps.stores.endpointHealth.findCircuit(endpointId)
    : null;
  return (delivery) =>
    circuit !== null && isWaiting(delivery)
      ? { ...viewDelivery(delivery), lastError: "endpoint_failing", nextAttemptAt: circuit.probeAt }
      : viewDelivery(delivery);
}

/**
 * Lists an endpoint's deliveries, newest first. A restricted key sees those about its profiles.
 * @throws AppError `not_found`, `invalid_cursor`
 */
export async function listDeliveries(
  deps: WebhooksDeps,
  scope: PlatformScope,
  { webhookId, limit, cursor, ...filter }: ListDeliveries & { readonly webhookId: string },
): Promise<Page<DeliveryView>> {
  const { id } = await getEndpoint(deps, scope, webhookId);
  const allowed = listViewOf(scope.caller);
  const bound = { list: "deliveries", webhookId: id, ...filter, ...boundToView(allowed) };
  const after = deps.cursors.read(cursor, bound);
  const listed = await deps.stores.deliveries.list(
    id,
    { ...filter, profileIds: allowed?.profileIds },
    { after, limit },
  );
  const view = await deliveryViewer(deps, id, listed.items);
  return toPage(listed, limit, (next) => deps.cursors.make(next, bound), view);
}

/** A delivery with the request that is sent. */
export interface DeliveryWithRequest extends DeliveryView {
  /** Null when the event is no longer stored. */
  readonly request: {
    /** Null for a restricted key. */
    readonly url: string | null;
    readonly headers: Readonly<Record<string, string>>;
    readonly body: string;
  } | null;
}

/**
 * Returns a delivery with what is sent, byte for byte, signatures aside. A restricted key sees those about its profiles.
 * @throws AppError `not_found`
 */
export async function getDelivery(
  deps: WebhooksDeps,
  scope: PlatformScope,
  { webhookId, deliveryId }: { readonly webhookId: string; readonly deliveryId: string },
): Promise<DeliveryWithRequest> {
  const { stores, config } = deps;
  const endpoint = await getEndpoint(deps, scope, webhookId);
  const delivery = (await stores.deliveries.find({ endpointId: endpoint.id, deliveryId }))
    ?.delivery;
  const allowed = listViewOf(scope.caller);
  const isHidden = allowed !== undefined && !allowed.profileIds.has(delivery?.profileId ?? "");
  if (delivery === undefined || isHidden) throw notFound();
  const [event, view] = await Promise.all([
    undefinedIfDamaged(stores.events.find(endpoint.applicationId, delivery.eventId)),
    deliveryViewer(deps, endpoint.id, [delivery]),
  ]);
  const request = event && {
    url: allowed === undefined ? endpoint.url : null,
    // Before its first attempt, as that will be.
    headers: {
      ...deliveryHeaders({ ...delivery, attempts: Math.max(1, delivery.attempts) }),
      "webhook-id": delivery.eventId,
    },
    body: deliveryBody(event, config.publicBaseUrl),
  };
  return { ...view(delivery), request: request ?? null };
}
