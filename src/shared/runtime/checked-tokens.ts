import { randomBytes } from "node:crypto";
import type { RotatingKeys } from "./rotating-keys.ts";
import { equalSecrets, hmacSha256 } from "./secrets.ts";

/** Long enough that nobody can guess a token. Storage has only its hash. */
const RANDOM_BYTES = 24;
/** This part only saves storage reads for made-up tokens. */
const CHECK_BYTES = 8;
const TOKEN = /^[\w-]{43}$/;

/** Makes secret tokens that can be recognized as ours without reading storage. */
export function createCheckedTokens({ current, previous }: RotatingKeys) {
  const checkOf = (key: Uint8Array, random: Buffer, boundTo: string) =>
    hmacSha256(key, `${random.toString("hex")}|${boundTo}`).subarray(0, CHECK_BYTES);
  return {
    /** Makes a token that is valid for this purpose or row only. */
    make(boundTo: string): string {
      const random = randomBytes(RANDOM_BYTES);
      return Buffer.concat([random, checkOf(current, random, boundTo)]).toString("base64url");
    },
    /**
     * Reports whether the token was made here for `boundTo`. The caller still has to compare it with the stored hash.
     */
    isOurs(token: string, boundTo: string): boolean {
      if (!TOKEN.test(token)) return false;
      const bytes = Buffer.from(token, "base64url");
      const random = bytes.subarray(0, RANDOM_BYTES);
      const check = bytes.subarray(RANDOM_BYTES);
      const keys = previous === undefined ? [current] : [current, previous];
      return keys.some((key) => equalSecrets(check, checkOf(key, random, boundTo)));
    },
  };
}

export type CheckedTokens = ReturnType<typeof createCheckedTokens>;
