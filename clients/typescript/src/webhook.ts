import { RelayWebhookError } from "./errors.ts";
import type { WebhookEvent } from "./types.ts";

/** Headers as fetch has them, or as Node's `request.headers`. */
export type WebhookHeaders =
  | { get(name: string): string | null }
  | Readonly<Record<string, string | readonly string[] | undefined>>;

const SECONDS_OFF_MAX = 300;

/**
 * Verifies a delivery by its signature and time, and returns its event. Takes the body as it came, because the signature
 * is over its bytes. An event can come more than once: its `id` tells.
 * @throws RelayWebhookError for what isn't a delivery of the relay, or is more than 5 minutes old
 */
export async function verifyWebhook(
  headers: WebhookHeaders,
  body: string | Uint8Array | ArrayBuffer,
  secret: string,
): Promise<WebhookEvent> {
  if (Object(headers) !== headers)
    throw new TypeError("verifyWebhook takes headers, body and secret, in this order.");
  const bytes = toBytes(body);
  const key = await crypto.subtle.importKey(
    "raw",
    keyOf(secret),
    { name: "HMAC", hash: "SHA-256" },
    false,
    ["sign"],
  );
  const signed = [readOwn(headers), readStandard(headers)].filter((one) => one !== undefined);
  if (signed.length === 0)
    throw new RelayWebhookError("The request has no signature. Pass all of its headers.");
  const recent = signed.filter(({ time }) => Math.abs(Date.now() / 1000 - time) <= SECONDS_OFF_MAX);
  if (recent.length === 0)
    throw new RelayWebhookError(
      "The signature is more than 5 minutes off. Unless it is a replay, set the clock here.",
    );
  for (const { prefix, signatures, encode } of recent) {
    const mac = await crypto.subtle.sign(
      "HMAC",
      key,
      await new Blob([prefix, bytes]).arrayBuffer(),
    );
    const wanted = encode(new Uint8Array(mac));
    if (signatures.some((signature) => isEqual(signature, wanted))) return parseEvent(bytes);
  }
  throw new RelayWebhookError(
    "The signature doesn't fit. Use the endpoint's current secret, and the body as it came, not parsed.",
  );
}

interface Signed {
  readonly time: number;
  /** What is signed before the body. */
  readonly prefix: string;
  readonly signatures: readonly string[];
  readonly encode: (mac: Uint8Array) => string;
}

const encoder = new TextEncoder();

/** Reads `t=<seconds>,v1=<hex>`, with two signatures while a secret is rotated. */
function readOwn(headers: WebhookHeaders): Signed | undefined {
  const parts = headerOf(headers, "x-social-restapi-signature").split(",");
  const values = (name: string) =>
    parts.filter((part) => part.startsWith(`${name}=`)).map((part) => part.slice(name.length + 1));
  const [time = ""] = values("t");
  return signedAt(time, { prefix: `${time}.`, signatures: values("v1"), encode: toHex });
}

/** Reads the headers of Standard Webhooks. */
function readStandard(headers: WebhookHeaders): Signed | undefined {
  const time = headerOf(headers, "webhook-timestamp");
  const signatures = headerOf(headers, "webhook-signature")
    .split(" ")
    .filter((part) => part.startsWith("v1,"))
    .map((part) => part.slice(3));
  const prefix = `${headerOf(headers, "webhook-id")}.${time}.`;
  return signedAt(time, { prefix, signatures, encode: toBase64 });
}

const signedAt = (time: string, signed: Omit<Signed, "time">): Signed | undefined =>
  /^\d{1,12}$/.test(time) && signed.signatures.length > 0
    ? { time: Number(time), ...signed }
    : undefined;

function headerOf(headers: WebhookHeaders, name: string): string {
  if (typeof headers.get === "function") return (headers as Headers).get(name) ?? "";
  const found = Object.entries(headers).find(([given]) => given.toLowerCase() === name)?.[1];
  return String(found ?? "");
}

function toBytes(body: string | Uint8Array | ArrayBuffer): Uint8Array<ArrayBuffer> {
  if (typeof body === "string") return encoder.encode(body);
  if (body instanceof ArrayBuffer || ArrayBuffer.isView(body)) return new Uint8Array(body);
  throw new TypeError("verifyWebhook needs the body as it came: bytes or text, not parsed.");
}

function keyOf(secret: string): Uint8Array<ArrayBuffer> {
  try {
    if (!secret.startsWith("whsec_")) throw new Error("another beginning");
    return Uint8Array.from(atob(secret.slice(6)), (one) => one.charCodeAt(0));
  } catch (cause) {
    throw new TypeError("The secret should be the whsec_… that came with the endpoint.", { cause });
  }
}

/** @internal */
export const toHex = (bytes: Uint8Array) =>
  Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");

const toBase64 = (bytes: Uint8Array) => btoa(String.fromCharCode(...bytes));

/** Compares in a time that doesn't depend on where the two differ. */
function isEqual(given: string, wanted: string): boolean {
  let difference = given.length ^ wanted.length;
  for (let index = 0; index < wanted.length; index += 1)
    difference |= given.charCodeAt(index) ^ wanted.charCodeAt(index);
  return difference === 0;
}

function parseEvent(bytes: Uint8Array): WebhookEvent {
  let event: unknown;
  try {
    event = JSON.parse(new TextDecoder().decode(bytes));
  } catch {
    // Below it is refused, like all that isn't an event.
  }
  if (typeof event !== "object" || event === null || !("type" in event))
    throw new RelayWebhookError("The body is not an event.");
  // Safe: the relay signed it.
  return event as WebhookEvent;
}
