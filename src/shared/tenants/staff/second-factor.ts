import { randomBytes } from "node:crypto";
import { deriveKey, hmacSha256 } from "../../runtime/secrets.ts";

/** A user's authenticator app, and the recovery codes in case it is lost. */
export interface SecondFactor {
  readonly sealedSecret: string;
  /** Whether a first code has shown that the app has the secret. Until then logging in asks for no code. */
  readonly confirmed: boolean;
  /** The time step of the last code that was accepted. Codes of this step and of earlier ones are refused (RFC 6238, 5.2). */
  readonly lastStep: number;
  /** The hashes of the recovery codes that are left. */
  readonly recoveryHashes: readonly string[];
}

/** A correct code that is not used up. */
export type Proof =
  | { readonly kind: "totp_code"; readonly step: number }
  | { readonly kind: "recovery_code"; readonly hash: string };

/** Returns the second factor with the code used up; undefined when it was used up before. */
export function spend(factor: SecondFactor, proof: Proof): SecondFactor | undefined {
  if (proof.kind === "totp_code")
    return proof.step > factor.lastStep ? { ...factor, lastStep: proof.step } : undefined;
  const recoveryHashes = factor.recoveryHashes.filter((hash) => hash !== proof.hash);
  return recoveryHashes.length < factor.recoveryHashes.length
    ? { ...factor, recoveryHashes }
    : undefined;
}

export interface RecoveryCodes {
  /** Shown in this answer only: they are not stored. */
  readonly recoveryCodes: readonly string[];
}

export interface TotpSecret {
  readonly secret: string;
  readonly otpauthUrl: string;
}

const CODES = 10;
/** Ten characters of five bits each. */
const CODE_LENGTH = 10;
/** Crockford's base32: no letter that is read as another character. */
const ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
const CODE = new RegExp(`^[${ALPHABET}]{${CODE_LENGTH}}$`);

/** Makes ten codes of 50 bits, in the form in which they are shown: `7K3QM-9XW2P`. */
export function newRecoveryCodes(): string[] {
  return Array.from({ length: CODES }, () => {
    // 256 is a multiple of 32: no character is likelier than another.
    const text = [...randomBytes(CODE_LENGTH)].map((byte) => ALPHABET[byte % 32]).join("");
    return `${text.slice(0, CODE_LENGTH / 2)}-${text.slice(CODE_LENGTH / 2)}`;
  });
}

/** Parses a typed code, ignoring case, dashes, spaces and look-alikes. Undefined when it is no code. */
export function parseRecoveryCode(text: string): string | undefined {
  const code = text.toUpperCase().replace(/[\s-]/g, "").replaceAll("O", "0").replace(/[IL]/g, "1");
  return CODE.test(code) ? code : undefined;
}

/** The start of a hash whose key is derived from the pepper. Version 0.2.0 used the pepper itself, without this start. */
const DERIVED = "1.";

/** Returns what is stored of a parsed code; it is of no use without the pepper. */
export function hashRecoveryCode(code: string, userId: string, pepper: string): string {
  return DERIVED + hashWith(deriveKey(pepper, "recovery code hashes"), code, userId);
}

/** Returns what may be stored of a parsed code: the hash of now, and that of version 0.2.0. */
export function hashesOfRecoveryCode(code: string, userId: string, pepper: string): string[] {
  return [hashRecoveryCode(code, userId, pepper), hashWith(pepper, code, userId)];
}

function hashWith(key: string | Uint8Array, code: string, userId: string): string {
  return hmacSha256(key, `recovery code|${userId}|${code}`).toString("base64url");
}
