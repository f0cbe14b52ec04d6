import { randomBytes } from "node:crypto";
import { deriveKey, hmacSha256 } from "../../runtime/secrets.ts";

const CODES = 10;
/** Ten characters of five bits each. */
const CODE_LENGTH = 10;
/** Crockford's base32: no letter that is read as another character. */
const ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
const CODE = new RegExp(`^[${ALPHABET}]{${CODE_LENGTH}}$`);

/** Ten codes of 50 bits, in the form in which they are shown: `7K3QM-9XW2P`. */
export function newRecoveryCodes(): string[] {
  return Array.from({ length: CODES }, () => {
    // 256 is a multiple of 32: no character is likelier than another.
    const text = [...randomBytes(CODE_LENGTH)].map((byte) => ALPHABET[byte % 32]).join("");
    return `${text.slice(0, CODE_LENGTH / 2)}-${text.slice(CODE_LENGTH / 2)}`;
  });
}

/** A typed code without what people change about it: case, dashes, spaces, look-alikes. Undefined when it is none. */
export function parseRecoveryCode(text: string): string | undefined {
  const code = text.toUpperCase().replace(/[\s-]/g, "").replaceAll("O", "0").replace(/[IL]/g, "1");
  return CODE.test(code) ? code : undefined;
}

/** Before a hash: its key is derived from the pepper. Those of version 0.2.0, made with the pepper itself, have none. */
const DERIVED = "1.";

/** What is stored of a code, of no use without the pepper. `code` is a parsed one. */
export function hashRecoveryCode(code: string, userId: string, pepper: string): string {
  return DERIVED + hashWith(deriveKey(pepper, "recovery code hashes"), code, userId);
}

/** What may be stored of a code: since when the key is derived, and before. */
export function hashesOfRecoveryCode(code: string, userId: string, pepper: string): string[] {
  return [hashRecoveryCode(code, userId, pepper), hashWith(pepper, code, userId)];
}

function hashWith(key: string | Uint8Array, code: string, userId: string): string {
  return hmacSha256(key, `recovery code|${userId}|${code}`).toString("base64url");
}
