import type { DELIVERY_ERRORS } from "../src/shared/webhooks/deliveries/delivery.ts";

/** What an endpoint's owner does about a delivery's `lastError`. */
export const DELIVERY_ADVICE: Readonly<Record<(typeof DELIVERY_ERRORS)[number], string>> = {
  blocked_address:
    "The name doesn't exist, or leads to an address that is not public. Correct the DNS entry.",
  timeout: "No response within 10 seconds. Respond first, work later.",
  connect_failed: "Nothing listens there, or the host name can't be resolved.",
  tls_failed:
    "The certificate is not valid for this name or has expired, or the server doesn't send the intermediate certificate, which browsers find by themselves: install the full chain.",
  connection_lost: "The connection ended before the response.",
  too_large: "The response has too many headers.",
  endpoint_failing:
    "Five calls in a row failed, so it waits until one succeeds. Redrive the delivery or send a test event to try immediately.",
  endpoint_deleted: "The endpoint was deleted while the delivery waited.",
  endpoint_disabled: "The endpoint was disabled while the delivery waited.",
  event_expired: "The event is older than 31 days and no longer stored.",
  interrupted: "The process ended during the last attempt. Redrive the delivery.",
};
