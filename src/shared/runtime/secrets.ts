import {
  createCipheriv,
  createDecipheriv,
  createHmac,
  createSecretKey,
  hash,
  hkdfSync,
  randomBytes,
  timingSafeEqual,
} from "node:crypto";
import { crc32 } from "node:zlib";
import { invariant } from "./errors.ts";

const BASE62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

export function sha256Hex(text: string): string {
  return hash("sha256", text, "hex");
}

export function hmacSha256(key: string | Uint8Array, text: string): Buffer {
  // Passing bytes to Node directly takes five times as long, because it first checks their type.
  const known = typeof key === "string" ? key : createSecretKey(key);
  return createHmac("sha256", known).update(text).digest();
}

/** Compares secrets in a time that doesn't depend on where they differ. */
export function equalSecrets(left: Uint8Array, right: Uint8Array): boolean {
  return left.length === right.length && timingSafeEqual(left, right);
}

/** Derives the key for one purpose (RFC 5869). What was made for one purpose can't be used for another. */
export function deriveKey(master: string, purpose: string): Uint8Array {
  return new Uint8Array(hkdfSync("sha256", master, "", purpose, 32));
}

/** Makes random text in which every character is equally likely. */
export function randomBase62(length: number): string {
  let text = "";
  while (text.length < length) {
    for (const byte of randomBytes(length * 2)) {
      // 248 is 4 * 62. With larger bytes, the remainder would favor the first characters.
      if (byte < 248 && text.length < length) text += BASE62[byte % 62];
    }
  }
  return text;
}

export function randomToken(bytes = 32): string {
  return randomBytes(bytes).toString("base64url");
}

function checksum(text: string): string {
  let rest = crc32(text);
  let digits = "";
  for (let index = 0; index < 6; index += 1) {
    digits = (BASE62[rest % 62] ?? "") + digits;
    rest = Math.floor(rest / 62);
  }
  return digits;
}

/** 43 base62 characters hold 256 bits. */
const SECRET_PART_LENGTH = 43;
const API_KEY = /^sk_live_([0-9A-HJKMNP-TV-Z]{26})_([0-9A-Za-z]{43})_([0-9A-Za-z]{6})$/;

/**
 * Makes a key of the form `sk_live_<key id>_<secret part>_<checksum>`. One point read finds its row, and a mistyped key
 * is recognized without any read.
 */
export function newApiKey(keyId: string): {
  secret: string;
  secretPart: string;
  keyPrefix: string;
} {
  const id = keyId.slice("key_".length);
  const secretPart = randomBase62(SECRET_PART_LENGTH);
  const body = `sk_live_${id}_${secretPart}`;
  return {
    secret: `${body}_${checksum(body)}`,
    secretPart,
    keyPrefix: `sk_live_${id.slice(0, 8)}`,
  };
}

/** Splits a key into its parts, if its form and checksum are right. Storage is not read. */
export function parseApiKey(text: string): { keyId: string; secretPart: string } | undefined {
  const match = API_KEY.exec(text);
  if (match === null) return undefined;
  const [, id = "", secretPart = "", given] = match;
  return checksum(`sk_live_${id}_${secretPart}`) === given
    ? { keyId: `key_${id}`, secretPart }
    : undefined;
}

const SEAL_VERSION = "v1";

/** Data keys by id. The first one seals; all of them open. */
export type DataKeys = ReadonlyMap<string, Uint8Array>;

/**
 * Seals text with AES-256-GCM under the first data key. `boundTo` names the row that stores the text. A copy in another
 * row doesn't open.
 */
export function seal(text: string, boundTo: string, keys: DataKeys): string {
  const first = keys.entries().next().value;
  invariant(first !== undefined, "no data key to seal with");
  const [keyId, key] = first;
  const iv = randomBytes(12);
  const cipher = createCipheriv("aes-256-gcm", key, iv, { authTagLength: 16 });
  cipher.setAAD(Buffer.from(boundTo));
  const sealed = Buffer.concat([cipher.update(text, "utf8"), cipher.final()]);
  const parts = [iv, sealed, cipher.getAuthTag()].map((part) => part.toString("base64url"));
  return [SEAL_VERSION, keyId, ...parts].join(".");
}

/** Opens sealed text. The result is undefined when its data key is gone, or when the text was changed or moved. */
export function unseal(sealed: string, boundTo: string, keys: DataKeys): string | undefined {
  const [version, keyId = "", ...coded] = sealed.split(".");
  const key = keys.get(keyId);
  const [iv, text, tag, more] = coded.map((part) => Buffer.from(part, "base64url"));
  if (version !== SEAL_VERSION || key === undefined || more !== undefined) return undefined;
  if (iv === undefined || text === undefined || tag === undefined) return undefined;
  // The decoder passes over what it doesn't know, so that a text with more in it would open, too.
  if ([iv, text, tag].some((bytes, index) => bytes.toString("base64url") !== coded[index]))
    return undefined;
  try {
    const decipher = createDecipheriv("aes-256-gcm", key, iv, { authTagLength: 16 });
    decipher.setAAD(Buffer.from(boundTo));
    decipher.setAuthTag(tag);
    return decipher.update(text, undefined, "utf8") + decipher.final("utf8");
  } catch {
    return undefined;
  }
}

/** Returns the id of the data key with which text was sealed. */
export function sealingKey(sealed: string): string {
  return sealed.split(".")[1] ?? "";
}

/** Seals text again with the first data key; undefined when it already has that key or doesn't open. */
export function reseal(sealed: string, boundTo: string, keys: DataKeys): string | undefined {
  if (keys.keys().next().value === sealingKey(sealed)) return undefined;
  const text = unseal(sealed, boundTo, keys);
  return text === undefined ? undefined : seal(text, boundTo, keys);
}
