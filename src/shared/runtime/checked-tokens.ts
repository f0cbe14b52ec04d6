import { randomBytes } from "node:crypto";
import type { RotatingKeys } from "./rotating-keys.ts";
import { equalSecrets, hmacSha256 } from "./secrets.ts";

/** Nobody guesses these: storage knows their hash alone. */
const RANDOM_BYTES = 24;
/** Only saves the look-up of tokens that are made up. */
const CHECK_BYTES = 8;
const TOKEN = /^[\w-]{43}$/;

/** Makes secret tokens that show without a look-up whether they were made here. */
export function createCheckedTokens({ current, previous }: RotatingKeys) {
  const checkOf = (key: Uint8Array, random: Buffer, boundTo: string) =>
    hmacSha256(key, `${random.toString("hex")}|${boundTo}`).subarray(0, CHECK_BYTES);
  return {
    /** Makes a token that is good for this purpose or row alone. */
    make(boundTo: string): string {
      const random = randomBytes(RANDOM_BYTES);
      return Buffer.concat([random, checkOf(current, random, boundTo)]).toString("base64url");
    },
    /** Returns whether a token was made here for it. The caller compares it with what is stored. */
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
