import { errors, SignJWT } from "jose";
import { AppError } from "../errors.ts";
import { rotatingKeys, verifyRotating } from "../rotating-keys.ts";
import { randomToken } from "../secrets.ts";
import { invalidCredentials } from "./credential.ts";

const ISSUER = "publishing-relay";
const AUDIENCE = "dashboard";
const TYPE = "session+jwt";
const LIFETIME_SECONDS = 12 * 3600;
const CLOCK_TOLERANCE_SECONDS = 5;

interface SessionClaims {
  readonly userId: string;
  readonly platformId: string;
  /** The user's session version when it was issued; raising the user's ends every session. */
  readonly version: number;
}

interface VerifiedSession extends SessionClaims {
  readonly sessionId: string;
}

export interface IssuedSession {
  readonly token: string;
  readonly expiresIn: number;
  readonly expiresAt: string;
}

export interface Sessions {
  issue(claims: SessionClaims): Promise<IssuedSession>;
  /**
   * The claims of a token that we issued and that has not expired. Says nothing about the user's present state.
   * @throws AppError `session_expired`, `invalid_credentials`
   */
  verify(token: string): Promise<VerifiedSession>;
}

/** Session tokens: their type, audience and key are their own, so that no other token of ours passes for one (RFC 8725). */
export function createSessions(
  secrets: { readonly current: string; readonly previous?: string | undefined },
  now: () => Date,
): Sessions {
  const keys = rotatingKeys(secrets, "session");
  return {
    async issue({ userId, platformId, version }) {
      const issuedAt = Math.floor(now().getTime() / 1000);
      const expires = issuedAt + LIFETIME_SECONDS;
      const token = await new SignJWT({ plt: platformId, tv: version })
        .setProtectedHeader({ alg: "HS256", typ: TYPE })
        .setIssuer(ISSUER)
        .setAudience(AUDIENCE)
        .setSubject(userId)
        .setIssuedAt(issuedAt)
        .setExpirationTime(expires)
        .setJti(randomToken(16))
        .sign(keys.current);
      const expiresAt = new Date(expires * 1000).toISOString();
      return { token, expiresIn: LIFETIME_SECONDS, expiresAt };
    },
    async verify(token) {
      try {
        const { payload } = await verifyRotating(token, keys, {
          algorithms: ["HS256"],
          typ: TYPE,
          issuer: ISSUER,
          audience: AUDIENCE,
          requiredClaims: ["sub", "plt", "tv", "iat", "exp", "jti"],
          maxTokenAge: LIFETIME_SECONDS,
          clockTolerance: CLOCK_TOLERANCE_SECONDS,
          currentDate: now(),
        });
        const { sub, plt, tv, jti } = payload;
        if (typeof sub !== "string" || typeof plt !== "string" || typeof tv !== "number")
          throw invalidCredentials();
        if (typeof jti !== "string") throw invalidCredentials();
        return { userId: sub, platformId: plt, version: tv, sessionId: jti };
      } catch (error) {
        if (error instanceof errors.JWTExpired)
          throw new AppError("session_expired", "The session has expired. Sign in again.");
        if (error instanceof errors.JOSEError) throw invalidCredentials();
        throw error;
      }
    },
  };
}
