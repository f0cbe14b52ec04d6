import { createHmac } from "node:crypto";
import { equalSecrets } from "../../runtime/secrets.ts";

const STEP_SECONDS = 30;
const DIGITS = 6;
/** A clock may be off by this many steps, and a code may take as long to be typed. */
const STEPS_OFF_MAX = 1;
const BASE32 = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";

export function stepAt(now: Date): number {
  return Math.floor(now.getTime() / 1000 / STEP_SECONDS);
}

/** Returns the code of a time step by RFC 6238, with the parameters that every authenticator app assumes: SHA-1, 30 s, 6 digits. */
export function codeOf(secret: Uint8Array, step: number): string {
  const counter = Buffer.alloc(8);
  counter.writeBigUInt64BE(BigInt(step));
  const digest = createHmac("sha1", secret).update(counter).digest();
  // RFC 4226, 5.3: the last four bits say where the four bytes start, whose first bit is dropped.
  const offset = (digest.at(-1) ?? 0) & 0x0f;
  const number = digest.readUInt32BE(offset) & 0x7fffffff;
  return (number % 10 ** DIGITS).toString().padStart(DIGITS, "0");
}

/** Finds the step that a code belongs to: now or one step off, and later than `lastStep`. Undefined when there is none. */
export function matchingStep(
  secret: Uint8Array,
  code: string,
  { now, lastStep }: { readonly now: Date; readonly lastStep: number },
): number | undefined {
  let found: number | undefined;
  for (let off = -STEPS_OFF_MAX; off <= STEPS_OFF_MAX; off += 1) {
    const step = stepAt(now) + off;
    const right = equalSecrets(Buffer.from(codeOf(secret, step)), Buffer.from(code));
    if (right && step > lastStep) found = step;
  }
  return found;
}

/** Encodes bytes in Base32 (RFC 4648) without padding, as authenticator apps expect a typed secret. */
export function toBase32(bytes: Uint8Array): string {
  let text = "";
  let bits = 0;
  let value = 0;
  for (const byte of bytes) {
    value = (value << 8) | byte;
    bits += 8;
    while (bits >= 5) {
      bits -= 5;
      text += BASE32[(value >>> bits) & 31];
    }
    value &= (1 << bits) - 1;
  }
  return bits === 0 ? text : text + BASE32[(value << (5 - bits)) & 31];
}

/**
 * Returns the URL that an authenticator app scans. `service` is what the app shows beside the e-mail; a name with a
 * colon would be cut there. https://github.com/google/google-authenticator/wiki/Key-Uri-Format
 */
export function otpauthUrl(service: string, email: string, secret: Uint8Array): string {
  // Not URLSearchParams: some apps show its plus signs instead of spaces.
  const issuer = encodeURIComponent(service);
  const label = `${issuer}:${encodeURIComponent(email)}`;
  const query = `secret=${toBase32(secret)}&issuer=${issuer}&algorithm=SHA1&digits=${DIGITS}&period=${STEP_SECONDS}`;
  return `otpauth://totp/${label}?${query}`;
}
