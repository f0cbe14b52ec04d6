import { recordAudit } from "../../audit/record.ts";
import type { PlatformScope } from "../../callers/scope.ts";
import type { WebhooksDeps } from "../deps.ts";
import { currentOrigin } from "../../runtime/telemetry/work-context.ts";
import { viewDelivery, type DeliveryView } from "../deliveries/delivery.ts";
import { newEvent } from "../events/event.ts";
import { getEndpoint, requireActive } from "./get-endpoint.ts";
import { firstDelivery, queueDelivery } from "../deliveries/queue-delivery.ts";

/**
 * Sends a `webhook.test` event to this endpoint alone, whichever events it subscribes to.
 * @throws AppError `not_found`, `invalid_state` while it is disabled
 */
export async function testEndpoint(
  services: WebhooksDeps,
  scope: PlatformScope,
  webhookId: string,
): Promise<DeliveryView> {
  const endpoint = await getEndpoint(services, scope, webhookId);
  requireActive(endpoint);
  const now = services.clock.now();
  const { applicationId } = endpoint;
  const subject = { sequence: null, applicationId, profileId: null, postId: null };
  const event = newEvent(
    { type: "webhook.test", ...subject, data: {}, origin: currentOrigin() },
    now,
  );
  await services.events.log([{ ...event, applicationId }]);
  const delivery = firstDelivery(event, endpoint, now);
  await queueDelivery(services, delivery);
  const target = { type: "webhook", id: webhookId };
  recordAudit(services, scope, { action: "webhook.tested", target, applicationId });
  return viewDelivery(delivery);
}
