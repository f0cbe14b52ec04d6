import { HttpFailure } from "../../runtime/http-call.ts";
import type { WebhooksDeps } from "../deps.ts";
import type { Delivery, DeliveryError } from "./delivery.ts";
import { deliveryBody } from "./delivery-body.ts";
import type { OpenedEndpoint } from "../endpoints/endpoint-store.ts";
import type { Event } from "../events/event.ts";
import { retryAfterSeconds } from "./retry-schedule.ts";
import { signatureHeaders } from "./signature.ts";

const ANSWER_BYTES_MAX = 16 * 1024;
const KEPT_BYTES_MAX = 2 * 1024;
const GONE = 410;
const USER_AGENT = "Social-Restapi-Webhooks/1";

/** What one attempt came to. */
export interface Attempt {
  /** Null: the receiver answered with a 2xx. */
  readonly error: DeliveryError | null;
  readonly statusCode: number | null;
  readonly durationMs: number;
  readonly responseBody: string | null;
  readonly retryAfterSeconds: number | null;
  /** The receiver asks never to be called again. */
  readonly isGone: boolean;
}

/** What is kept of an answer: its start, as text that can be stored and shown. */
export function keptText(body: Uint8Array): string | null {
  // A character that is cut in two is dropped, for its replacement would be longer than what was cut.
  const text = new TextDecoder().decode(body.subarray(0, KEPT_BYTES_MAX), {
    stream: body.length > KEPT_BYTES_MAX,
  });
  const plain = text.replace(/[^\P{Cc}\t\n\r]/gu, "");
  const bytes = new TextEncoder().encode(plain);
  if (bytes.length > KEPT_BYTES_MAX) return keptText(bytes);
  return plain === "" ? null : plain;
}

/** One call, signed afresh. Whatever the receiver does is an outcome, never an error. */
export async function sendDelivery(
  services: WebhooksDeps,
  { endpoint, secrets }: OpenedEndpoint,
  delivery: Delivery,
  event: Event,
): Promise<Attempt> {
  const body = deliveryBody(event);
  const timestamp = Math.floor(services.clock.now().getTime() / 1000);
  const startedAt = performance.now();
  const durationMs = () => Math.round(performance.now() - startedAt);
  try {
    const answer = await services.outbound.request({
      method: "POST",
      url: endpoint.url,
      headers: {
        "content-type": "application/json; charset=utf-8",
        "user-agent": USER_AGENT,
        "x-social-restapi-event": event.type,
        "x-social-restapi-delivery": delivery.id,
        "x-social-restapi-attempt": String(delivery.attempts),
        ...signatureHeaders({ eventId: event.id, timestamp, body }, secrets),
      },
      body,
      timeoutMs: services.config.webhooks.timeoutMs,
      bytesMax: ANSWER_BYTES_MAX,
      beyondMax: "cut",
    });
    const { status } = answer;
    const isSuccess = status >= 200 && status < 300;
    return {
      error: isSuccess ? null : `http_${status}`,
      statusCode: status,
      durationMs: durationMs(),
      responseBody: keptText(answer.body),
      retryAfterSeconds: retryAfterSeconds(
        status,
        answer.headers["retry-after"],
        services.clock.now(),
      ),
      isGone: status === GONE,
    };
  } catch (error) {
    if (!(error instanceof HttpFailure)) throw error;
    return {
      error: error.reason,
      statusCode: null,
      durationMs: durationMs(),
      responseBody: null,
      retryAfterSeconds: null,
      isGone: false,
    };
  }
}
