import { randomBytes } from "node:crypto";
import { hmacSha256 } from "../../runtime/secrets.ts";

const PREFIX = "whsec_";
const SECRET_BYTES = 32;
const HINT_CHARACTERS = 4;

export function newSigningSecret(): string {
  return PREFIX + randomBytes(SECRET_BYTES).toString("base64");
}

/** Returns enough of the secret to recognize it. */
export function secretHint(secret: string): string {
  return `${secret.slice(0, PREFIX.length + HINT_CHARACTERS)}…`;
}

function signingKey(secret: string): Uint8Array {
  return Buffer.from(secret.slice(PREFIX.length), "base64");
}

interface ToSign {
  readonly eventId: string;
  /** Time of this attempt, in seconds. */
  readonly timestamp: number;
  readonly body: string;
}

/** Returns the `X-Social-Restapi-Signature`: one `v1` for each secret, the newest first. */
export function signature({ timestamp, body }: ToSign, secrets: readonly string[]): string {
  const signed = secrets.map(
    (secret) => `v1=${hmacSha256(signingKey(secret), `${timestamp}.${body}`).toString("hex")}`,
  );
  return [`t=${timestamp}`, ...signed].join(",");
}

/** Returns the `webhook-signature` of Standard Webhooks 1.0, which signs the event's id too. */
export function standardSignature(
  { eventId, timestamp, body }: ToSign,
  secrets: readonly string[],
): string {
  return secrets
    .map((secret) => hmacSha256(signingKey(secret), `${eventId}.${timestamp}.${body}`))
    .map((digest) => `v1,${digest.toString("base64")}`)
    .join(" ");
}

/** Returns both signatures: one takes a few lines to verify, the other any Standard Webhooks library. */
export function signatureHeaders(
  toSign: ToSign,
  secrets: readonly string[],
): Readonly<Record<string, string>> {
  return {
    "x-social-restapi-signature": signature(toSign, secrets),
    "webhook-id": toSign.eventId,
    "webhook-timestamp": String(toSign.timestamp),
    "webhook-signature": standardSignature(toSign, secrets),
  };
}
