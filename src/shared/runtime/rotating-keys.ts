import { errors, jwtVerify, type JWTVerifyOptions, type JWTVerifyResult } from "jose";
import { deriveKey } from "./secrets.ts";

/** The key that signs, and the one before it, which is still accepted while a secret is rotated. */
export interface RotatingKeys {
  readonly current: Uint8Array;
  readonly previous: Uint8Array | undefined;
}

export function rotatingKeys(
  { current, previous }: { readonly current: string; readonly previous?: string | undefined },
  purpose: string,
): RotatingKeys {
  return {
    current: deriveKey(current, purpose),
    previous: previous === undefined ? undefined : deriveKey(previous, purpose),
  };
}

/** Verifies a token with either key; everything else of it is judged the same way. @throws jose's errors */
export async function verifyRotating(
  token: string,
  { current, previous }: RotatingKeys,
  options: JWTVerifyOptions,
): Promise<JWTVerifyResult> {
  try {
    return await jwtVerify(token, current, options);
  } catch (error) {
    const isOtherKey = error instanceof errors.JWSSignatureVerificationFailed;
    if (!isOtherKey || previous === undefined) throw error;
    return await jwtVerify(token, previous, options);
  }
}
