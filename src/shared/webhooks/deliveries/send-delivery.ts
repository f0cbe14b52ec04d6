import { isRecord } from "../../runtime/is-record.ts";
import { HttpFailure } from "../../runtime/http-call.ts";
import type { WebhooksDeps } from "../deps.ts";
import { type Delivery, type DeliveryError, retryAfterSeconds } from "./delivery.ts";
import type { OpenedEndpoint } from "../endpoints/endpoint-store.ts";
import { type Event, eventPayload } from "../../events/events.ts";
import { signatureHeaders } from "../endpoints/signature.ts";

export const BODY_BYTES_MAX = 64 * 1024;
/** Characters of a post's text that are sent if the whole event doesn't fit. */
const TEXT_CHARACTERS = 1_000;
const ITEMS_MAX = 20;
/** Lengths to which texts are cut, tried in this order. Ids, codes, states and times are never longer than the last. */
const CHARACTERS_TRIED = [256, 64, 40] as const;

type Data = Event["data"];

/** Cuts text to a length and marks it with `…`, but never cuts inside a surrogate pair. */
function cutWithEllipsis(text: string, charactersMax: number): string {
  if (text.length <= charactersMax) return text;
  const last = text.charCodeAt(charactersMax - 2);
  const isSplit = last >= 0xd800 && last <= 0xdbff;
  return `${text.slice(0, charactersMax - (isSplit ? 2 : 1))}…`;
}

/** Removes a post's content, which its sender knows, and keeps its results. */
function withoutContent({ post, ...others }: Data, more: Readonly<Record<string, unknown>>): Data {
  if (!isRecord(post)) return { post, ...others };
  const text = cutWithEllipsis(
    typeof post["text"] === "string" ? post["text"] : "",
    TEXT_CHARACTERS,
  );
  const empty = { mediaUrls: [], altTexts: [], platformOptions: {} };
  return { post: { ...post, text, ...empty, ...more }, ...others };
}

/** Cuts every text and list at any depth, because values from networks have no limit. */
function withShortTexts(value: unknown, charactersMax: number): unknown {
  if (typeof value === "string") return cutWithEllipsis(value, charactersMax);
  if (Array.isArray(value))
    return value.slice(0, ITEMS_MAX).map((item) => withShortTexts(item, charactersMax));
  if (!isRecord(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, part]) => [name, withShortTexts(part, charactersMax)]),
  );
}

/** Yields shorter versions of an event's data, the most complete first. */
function* shorterData(data: Data): Generator<Data> {
  yield withoutContent(data, {});
  const bare = withoutContent(data, { metadata: {} });
  // Safe: a record stays one.
  for (const charactersMax of CHARACTERS_TRIED) yield withShortTexts(bare, charactersMax) as Data;
}

/**
 * Returns the body of an event's deliveries, at most 64 KiB. A larger event is shortened, with `truncated` set. The
 * body depends only on the event and the relay's address, so all attempts send the same bytes.
 */
export function deliveryBody(event: Event, baseUrl: string): string {
  const payload = eventPayload(event, baseUrl);
  const whole = JSON.stringify(payload);
  if (Buffer.byteLength(whole) <= BODY_BYTES_MAX) return whole;
  for (const data of shorterData(event.data)) {
    const shorter = eventPayload({ ...event, data }, baseUrl);
    const body = JSON.stringify({ ...shorter, truncated: true });
    if (Buffer.byteLength(body) <= BODY_BYTES_MAX) return body;
  }
  return JSON.stringify({ ...payload, data: {}, truncated: true });
}

const ANSWER_BYTES_MAX = 16 * 1024;
const KEPT_BYTES_MAX = 2 * 1024;
const GONE = 410;
const USER_AGENT = "Social-Restapi-Webhooks/1";

export interface DeliveryAttempt {
  /** Null when the receiver answered with a 2xx. */
  readonly error: DeliveryError | null;
  readonly statusCode: number | null;
  readonly durationMs: number;
  readonly responseBody: string | null;
  readonly retryAfterSeconds: number | null;
  /** The receiver answered 410 and isn't called again. */
  readonly isGone: boolean;
}

/** Returns the start of an answer, at most 2 KiB, without control characters. Null when nothing is left. */
export function keptText(body: Uint8Array): string | null {
  // A character that is cut in two is dropped, because its replacement would be longer than the cut part.
  const text = new TextDecoder().decode(body.subarray(0, KEPT_BYTES_MAX), {
    stream: body.length > KEPT_BYTES_MAX,
  });
  const plain = text.replace(/[^\P{Cc}\t\n\r]/gu, "");
  const bytes = new TextEncoder().encode(plain);
  if (bytes.length > KEPT_BYTES_MAX) return keptText(bytes);
  return plain === "" ? null : plain;
}

/** Returns the headers of a delivery, without those that sign it. */
export function deliveryHeaders(delivery: Delivery) {
  return {
    // Without a charset, which JSON does not have (RFC 8259, 11), because some receivers compare the whole value.
    "content-type": "application/json",
    "user-agent": USER_AGENT,
    "x-social-restapi-event": delivery.eventType,
    "x-social-restapi-delivery": delivery.id,
    "x-social-restapi-attempt": String(delivery.attempts),
  };
}

/** Makes one signed call. A failure of the receiver is an outcome and never throws. */
export async function sendDelivery(
  deps: WebhooksDeps,
  { endpoint, secrets }: OpenedEndpoint,
  delivery: Delivery,
  event: Event,
): Promise<DeliveryAttempt> {
  const body = deliveryBody(event, deps.config.publicBaseUrl);
  const timestamp = Math.floor(deps.clock.now().getTime() / 1000);
  const startedAt = performance.now();
  const durationMs = () => Math.round(performance.now() - startedAt);
  try {
    const answer = await deps.calls.outbound.request({
      method: "POST",
      url: endpoint.url,
      headers: {
        ...deliveryHeaders(delivery),
        ...signatureHeaders({ eventId: event.id, timestamp, body }, secrets),
      },
      body,
      timeoutMs: deps.config.webhooks.timeoutMs,
      owner: endpoint.platformId,
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
      retryAfterSeconds: retryAfterSeconds(status, answer.headers["retry-after"], deps.clock.now()),
      isGone: status === GONE,
    };
  } catch (error) {
    if (!(error instanceof HttpFailure)) throw error;
    return {
      // Only the status of an answer matters, so a bad encoding is no failure.
      error:
        error.reason === "undecodable" || error.reason === "headers_too_large"
          ? "connection_lost"
          : error.reason,
      statusCode: null,
      durationMs: durationMs(),
      responseBody: null,
      retryAfterSeconds: null,
      isGone: false,
    };
  }
}
