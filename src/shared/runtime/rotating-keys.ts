import {
  errors,
  jwtVerify,
  type JWTVerifyOptions,
  type JWTVerifyResult,
  SignJWT,
  type JWTPayload,
} from "jose";
import type { FailedCheck } from "./errors.ts";
import { deriveKey, randomToken } from "./secrets.ts";
import { failedTokenCheck } from "./token-check.ts";

/** The key that signs, and the previous one, which is still accepted while a secret is rotated. */
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

/** Verifies a token with the current or the previous key. Both get the same checks. @throws jose's errors */
async function verifyRotating(
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

const ISSUER = "publishing-relay";
const CLOCK_TOLERANCE_SECONDS = 5;
const ALGORITHMS = ["HS256"];

/** A kind of token. Each has its own type, audience and key, so that no kind is accepted as another (RFC 8725). */
interface TokenKind {
  readonly type: string;
  readonly audience: string;
  /** Name of the setting that holds the secret, for the log. */
  readonly secretSetting: string;
  readonly purpose: string;
  /** Claims that are required in addition to the id and the times, which every token has. */
  readonly claims: readonly string[];
  readonly lifetimeSecondsMax: number;
}

export function ownTokens(
  kind: TokenKind,
  secrets: { readonly current: string; readonly previous?: string | undefined },
  now: () => Date,
) {
  const { type, audience, secretSetting } = kind;
  const keys = rotatingKeys(secrets, kind.purpose);
  return {
    /** Signs a token. It gets a new id unless the claims have one. */
    async sign(claims: JWTPayload, seconds: number) {
      const issuedAt = Math.floor(now().getTime() / 1000);
      const expires = issuedAt + seconds;
      const token = await new SignJWT(claims)
        .setProtectedHeader({ alg: "HS256", typ: type })
        .setIssuer(ISSUER)
        .setAudience(audience)
        .setIssuedAt(issuedAt)
        .setExpirationTime(expires)
        .setJti(claims.jti ?? randomToken(16))
        .sign(keys.current);
      return { token, expiresAt: new Date(expires * 1000).toISOString() };
    },
    /** Returns the claims of a token, if it is of this kind, signed by us and not expired. @throws jose's errors */
    async verify(token: string): Promise<JWTPayload> {
      const { payload } = await verifyRotating(token, keys, {
        algorithms: ALGORITHMS,
        typ: type,
        issuer: ISSUER,
        audience,
        requiredClaims: [...kind.claims, "iat", "exp", "jti"],
        maxTokenAge: kind.lifetimeSecondsMax,
        clockTolerance: CLOCK_TOLERANCE_SECONDS,
        currentDate: now(),
      });
      return payload;
    },
    /** Names the check that a token failed, given the error of `verify`. */
    failedCheck: (error: errors.JOSEError, token: string): FailedCheck =>
      failedTokenCheck(error, token, {
        issuers: [ISSUER],
        audiences: [audience],
        algorithms: ALGORITHMS,
        keysFrom: `${secretSetting} and ${secretSetting}_PREVIOUS`,
        now: now(),
      }),
  };
}
