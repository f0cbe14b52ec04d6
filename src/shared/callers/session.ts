import { errors } from "jose";
import { AppError } from "../runtime/errors.ts";
import { ownTokens } from "../runtime/own-tokens.ts";
import { invalidCredentials } from "./credential.ts";

const LIFETIME_SECONDS = 12 * 3600;
const SESSION = {
  type: "session+jwt",
  audience: "dashboard",
  purpose: "session",
  claims: ["sub", "plt", "tv"],
  lifetimeSecondsMax: LIFETIME_SECONDS,
};

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

/** Tokens of people who are signed in. */
export function createSessions(
  secrets: { readonly current: string; readonly previous?: string | undefined },
  now: () => Date,
): Sessions {
  const tokens = ownTokens(SESSION, secrets, now);
  return {
    async issue({ userId, platformId, version }) {
      const claims = { sub: userId, plt: platformId, tv: version };
      const { token, expiresAt } = await tokens.sign(claims, LIFETIME_SECONDS);
      return { token, expiresIn: LIFETIME_SECONDS, expiresAt };
    },
    async verify(token) {
      try {
        const { sub, plt, tv, jti } = await tokens.verify(token);
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
