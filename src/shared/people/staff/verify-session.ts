import type { SessionCaller } from "../../callers/caller.ts";
import { invalidCredentials, sessionExpired } from "../../callers/credential.ts";
import { isMailOn } from "../../mail/mail.ts";
import { isId } from "../../runtime/ids.ts";
import type { AccessRows } from "../access-rows.ts";
import type { PeopleDeps } from "../deps.ts";
import { isSessionLive } from "./user.ts";

interface VerifiedSession<T> {
  readonly caller: SessionCaller;
  readonly isUnverified: boolean;
  readonly alongside: T;
}

/**
 * Returns the caller who presents a session token, checked on `rows`. `alongside` is read in the same round trip.
 * @throws AppError `session_expired`, `invalid_credentials`
 */
export async function verifySession<T>(
  deps: PeopleDeps,
  { token, rows }: { readonly token: string; readonly rows: AccessRows },
  alongside: (platformId: string) => Promise<T>,
): Promise<VerifiedSession<T>> {
  const session = await deps.secrets.sessions.verify(token);
  const { userId, platformId, sessionId, version } = session;
  if (!isId("user", userId) || !isId("platform", platformId)) throw invalidCredentials();
  const [user, read] = await Promise.all([rows.user(platformId, userId), alongside(platformId)]);
  if (user !== undefined && version > user.sessionVersion)
    throw invalidCredentials({
      check: "session version",
      expected: "an issued one",
      found: userId,
    });
  if (user === undefined || !isSessionLive(user, session)) {
    throw sessionExpired(
      user === undefined
        ? { check: "user", expected: "a user of the platform", found: userId }
        : { check: "session version", expected: "one that was not ended", found: userId },
    );
  }
  const caller = {
    kind: "session",
    userId,
    platformId,
    sessionId,
    sessionVersion: version,
    expiresAt: session.expiresAt,
    confirmedUntil: session.confirmedUntil,
    role: user.role,
  } as const;
  const isUnverified = !user.emailVerified && isMailOn(deps.config);
  return { caller, isUnverified, alongside: read };
}
