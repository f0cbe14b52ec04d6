import { errors } from "jose";
import type { Maker } from "../../callers/caller.ts";
import { AppError, type FailedCheck } from "../../runtime/errors.ts";
import { ownTokens } from "../../runtime/rotating-keys.ts";

const GRANT = {
  type: "profile-grant+jwt",
  audience: "profile-grant",
  secretSetting: "GRANT_SECRET",
  purpose: "profile grant",
  claims: ["plt", "app", "prf", "iby"],
  lifetimeSecondsMax: 7_200,
};
const LENGTH_MAX = 8 * 1024;

/** A profile grant lets a restricted key act for one profile for a while. It is no credential by itself. */
export interface Grant {
  readonly platformId: string;
  readonly applicationId: string;
  readonly profileId: string;
  /** Who minted the grant, which ends with them. */
  readonly mintedBy: Maker;
}

export interface Grants {
  mint(
    grant: Grant,
    seconds: number,
  ): Promise<{ readonly token: string; readonly expiresAt: string }>;
  /** Checks a token. @throws AppError `invalid_grant_token` when it is not ours or has expired */
  verify(token: string): Promise<Grant>;
}

/** Makes the refusal of a grant that doesn't fit the request. */
export function invalidGrant(failedCheck: FailedCheck): AppError {
  return new AppError("invalid_grant_token", "The profile grant is not valid for this request.", {
    failedCheck,
  });
}

/** Makes profile grants. They are signed with a secret of their own. */
export function createGrants(
  secrets: { readonly current: string; readonly previous?: string | undefined },
  now: () => Date,
): Grants {
  const tokens = ownTokens(GRANT, secrets, now);
  return {
    mint({ platformId, applicationId, profileId, mintedBy: { id, session } }, seconds) {
      const claims = { plt: platformId, app: applicationId, prf: profileId, iby: id };
      const ofSession = session === null ? {} : { sid: session.sessionId, sv: session.version };
      return tokens.sign({ ...claims, ...ofSession }, seconds);
    },
    async verify(token) {
      if (token.length > LENGTH_MAX)
        throw invalidGrant({
          check: "length",
          expected: `at most ${LENGTH_MAX} characters`,
          found: String(token.length),
        });
      try {
        const { plt, app, prf, iby, sid, sv } = await tokens.verify(token);
        const sessionId = typeof sid === "string" ? sid : null;
        return {
          platformId: String(plt),
          applicationId: String(app),
          profileId: String(prf),
          mintedBy: {
            id: String(iby),
            session: typeof sv === "number" ? { sessionId, version: sv } : null,
          },
        };
      } catch (error) {
        if (error instanceof errors.JOSEError) throw invalidGrant(tokens.failedCheck(error, token));
        throw error;
      }
    },
  };
}

export interface ProfileGrant {
  readonly token: string;
  readonly profileId: string;
  readonly applicationId: string;
  readonly expiresIn: number;
  readonly expiresAt: string;
  readonly header: string;
}
