import { randomBytes, createHmac } from "node:crypto";
import { deriveKey, hmacSha256, equalSecrets } from "../../runtime/secrets.ts";

/** A user's authenticator app, and recovery codes in case it is lost. */
export interface SecondFactor {
  readonly sealedSecret: string;
  /** Whether a first code has shown that the app has the secret. Until then logging in asks for no code. */
  readonly confirmed: boolean;
  /** When the secret was shown. A first code can confirm it for half an hour. */
  readonly startedAt: string;
  /** The time step of the last accepted code. Codes of this step and of earlier ones are refused (RFC 6238, 5.2). */
  readonly lastStep: number;
  /** Hashes of the recovery codes that are left. */
  readonly recoveryHashes: readonly string[];
}

/** A correct code that is not used up. */
export type CodeProof =
  | { readonly kind: "totp_code"; readonly step: number }
  | { readonly kind: "recovery_code"; readonly hash: string };

/** Returns the second factor with the code used up, or undefined when it already was. */
export function spend(factor: SecondFactor, proof: CodeProof): SecondFactor | undefined {
  if (proof.kind === "totp_code")
    return proof.step > factor.lastStep ? { ...factor, lastStep: proof.step } : undefined;
  const recoveryHashes = factor.recoveryHashes.filter((hash) => hash !== proof.hash);
  return recoveryHashes.length < factor.recoveryHashes.length
    ? { ...factor, recoveryHashes }
    : undefined;
}

export interface RecoveryCodes {
  /** Only in this answer, because they are not stored. */
  readonly recoveryCodes: readonly string[];
}

export interface TotpSecret {
  readonly secret: string;
  readonly otpauthUrl: string;
}

const CODES = 10;
/** Ten characters of five bits each. */
const CODE_LENGTH = 10;
/** Crockford's base32, which has no letter that could be read as another character. */
const ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
const CODE = new RegExp(`^[${ALPHABET}]{${CODE_LENGTH}}$`);

/** Makes ten codes of 50 bits in the form that is shown: `7K3QM-9XW2P`. */
export function newRecoveryCodes(): string[] {
  return Array.from({ length: CODES }, () => {
    // 256 is a multiple of 32, so all characters are equally likely.
    const text = [...randomBytes(CODE_LENGTH)].map((byte) => ALPHABET[byte % 32]).join("");
    return `${text.slice(0, CODE_LENGTH / 2)}-${text.slice(CODE_LENGTH / 2)}`;
  });
}

/** Zeros of the decimal digits that keyboards write. The other nine follow each. */
const ZEROS = [
  0x0660, 0x06f0, 0x07c0, 0x0966, 0x09e6, 0x0a66, 0x0ae6, 0x0b66, 0x0be6, 0x0c66, 0x0ce6, 0x0d66,
  0x0e50, 0x0ed0, 0x0f20, 0x1040, 0x17e0, 0x1810,
];
const FULL_WIDTH = { first: 0xff01, last: 0xff5e, offset: 0xfee0 };

function toAscii(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  const { first, last, offset } = FULL_WIDTH;
  if (code >= first && code <= last) return String.fromCodePoint(code - offset);
  const zero = ZEROS.find((one) => code >= one && code < one + 10);
  return zero === undefined ? character : String(code - zero);
}

/**
 * Returns a typed code in plain letters and digits: without spaces, dashes, dots and invisible marks, and with the digits
 * of other scripts and full-width characters in ASCII.
 */
export const plainCode = (text: string): string =>
  Array.from(text, toAscii)
    .join("")
    .replace(
      /[\s.·_\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2069\u2010-\u2015\u2212\ufe58\ufe63-]/g,
      "",
    );

/** Parses a typed code, ignoring case, dashes, spaces and look-alikes. Undefined when it is no code. */
export function parseRecoveryCode(text: string): string | undefined {
  const code = plainCode(text).toUpperCase().replaceAll("O", "0").replace(/[IL]/g, "1");
  return CODE.test(code) ? code : undefined;
}

/** Returns the stored form of a parsed code. It is useless without the pepper. */
export function hashRecoveryCode(code: string, userId: string, pepper: string): string {
  const key = deriveKey(pepper, "recovery code hashes");
  return hmacSha256(key, `recovery code|${userId}|${code}`).toString("base64url");
}

const STEP_SECONDS = 30;
const DIGITS = 6;
const TOTP_CODE = new RegExp(`^[0-9]{${DIGITS}}$`);

/** Returns whether a typed text has the form of a code. Another text is no guess: no user can have it. */
export const isCodeLike = (text: string): boolean =>
  TOTP_CODE.test(plainCode(text)) || parseRecoveryCode(text) !== undefined;

/** How many steps a clock may be off, including the time to type a code. */
const STEPS_OFF_MAX = 1;
const BASE32 = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";

export function stepAt(now: Date): number {
  return Math.floor(now.getTime() / 1000 / STEP_SECONDS);
}

/** Returns the code of a step (RFC 6238), with the parameters that all apps assume: SHA-1, 30 s, 6 digits. */
export function codeOf(secret: Uint8Array, step: number): string {
  const counter = Buffer.alloc(8);
  counter.writeBigUInt64BE(BigInt(step));
  const digest = createHmac("sha1", secret).update(counter).digest();
  // RFC 4226, 5.3: the last four bits give the offset of four bytes, of which the first bit is dropped.
  const offset = (digest.at(-1) ?? 0) & 0x0f;
  const number = digest.readUInt32BE(offset) & 0x7fffffff;
  return (number % 10 ** DIGITS).toString().padStart(DIGITS, "0");
}

/** Finds the step of a code: at most one step off, and later than `lastStep`. Undefined when there is none. */
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

/** How many steps of a wrong clock are recognized: ten minutes. */
const CLOCK_STEPS_MAX = 20;

/** Returns by how many seconds the clock of a phone with this code is ahead, negative if it is behind. */
export function clockOffset(secret: Uint8Array, code: string, now: Date): number | undefined {
  for (let off = 1; off <= CLOCK_STEPS_MAX; off += 1)
    for (const steps of [off, -off])
      if (equalSecrets(Buffer.from(codeOf(secret, stepAt(now) + steps)), Buffer.from(code)))
        return steps * STEP_SECONDS;
  return undefined;
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
 * Returns the URL that an authenticator app scans. The app shows `service` next to the email, and would cut a name at
 * a colon. https://github.com/google/google-authenticator/wiki/Key-Uri-Format
 */
export function otpauthUrl(service: string, email: string, secret: Uint8Array): string {
  // Not URLSearchParams, because some apps show its plus signs instead of spaces.
  const issuer = encodeURIComponent(service);
  const label = `${issuer}:${encodeURIComponent(email)}`;
  const query = `secret=${toBase32(secret)}&issuer=${issuer}&algorithm=SHA1&digits=${DIGITS}&period=${STEP_SECONDS}`;
  return `otpauth://totp/${label}?${query}`;
}
