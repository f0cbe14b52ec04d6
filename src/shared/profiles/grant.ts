import { errors, SignJWT } from "jose";
import { AppError } from "../errors.ts";
import { rotatingKeys, verifyRotating } from "../rotating-keys.ts";
import { randomToken } from "../secrets.ts";

const ISSUER = "publishing-relay";
const AUDIENCE = "profile-grant";
const TYPE = "profile-grant+jwt";
const LIFETIME_SECONDS_MAX = 7_200;
const CLOCK_TOLERANCE_SECONDS = 5;
const LENGTH_MAX = 8 * 1024;

/** Lets a restricted key act on one profile for a while. Not a credential by itself. */
export interface Grant {
  readonly platformId: string;
  readonly applicationId: string;
  readonly profileId: string;
  /** The key or user that minted it: the grant ends with the key. */
  readonly mintedBy: string;
}

export interface Grants {
  mint(
    grant: Grant,
    seconds: number,
  ): Promise<{ readonly token: string; readonly expiresAt: string }>;
  /** @throws AppError `invalid_grant_token` when it is not ours or has expired */
  verify(token: string): Promise<Grant>;
}

export function invalidGrant(): AppError {
  return new AppError("invalid_grant_token", "The profile grant is not valid for this request.");
}

/** Profile grants have a secret, audience and type of their own, so that no session passes for one, nor the reverse. */
export function createGrants(
  secrets: { readonly current: string; readonly previous?: string | undefined },
  now: () => Date,
): Grants {
  const keys = rotatingKeys(secrets, "profile grant");
  return {
    async mint({ platformId, applicationId, profileId, mintedBy }, seconds) {
      const issuedAt = Math.floor(now().getTime() / 1000);
      const expires = issuedAt + seconds;
      const claims = { plt: platformId, app: applicationId, prf: profileId, iby: mintedBy };
      const token = await new SignJWT(claims)
        .setProtectedHeader({ alg: "HS256", typ: TYPE })
        .setIssuer(ISSUER)
        .setAudience(AUDIENCE)
        .setIssuedAt(issuedAt)
        .setExpirationTime(expires)
        .setJti(randomToken(16))
        .sign(keys.current);
      return { token, expiresAt: new Date(expires * 1000).toISOString() };
    },
    async verify(token) {
      if (token.length > LENGTH_MAX) throw invalidGrant();
      try {
        const { payload } = await verifyRotating(token, keys, {
          algorithms: ["HS256"],
          typ: TYPE,
          issuer: ISSUER,
          audience: AUDIENCE,
          requiredClaims: ["plt", "app", "prf", "iby", "iat", "exp", "jti"],
          maxTokenAge: LIFETIME_SECONDS_MAX,
          clockTolerance: CLOCK_TOLERANCE_SECONDS,
          currentDate: now(),
        });
        return {
          platformId: String(payload["plt"]),
          applicationId: String(payload["app"]),
          profileId: String(payload["prf"]),
          mintedBy: String(payload["iby"]),
        };
      } catch (error) {
        if (error instanceof errors.JOSEError) throw invalidGrant();
        throw error;
      }
    },
  };
}
