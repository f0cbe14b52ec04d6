import type { SessionCaller } from "../../callers/caller.ts";
import { invalidCredentials } from "../../callers/credential.ts";
import { isId } from "../../runtime/ids.ts";
import type { TenantsDeps } from "../deps.ts";
import { isSessionLive } from "./user.ts";

/**
 * Returns the caller that presents a session token. The user is read with every request, so that logging out takes effect
 * with the next one. `alongside` is read in the same round trip.
 * @throws AppError `session_expired`, `invalid_credentials`
 */
export async function verifySession<T>(
  services: TenantsDeps,
  token: string,
  alongside: (platformId: string) => Promise<T>,
): Promise<{ readonly caller: SessionCaller; readonly alongside: T }> {
  const session = await services.sessions.verify(token);
  const { userId, platformId, sessionId } = session;
  if (!isId("user", userId) || !isId("platform", platformId)) throw invalidCredentials();
  const [user, read] = await Promise.all([
    services.users.find(platformId, userId),
    alongside(platformId),
  ]);
  if (user === undefined || !isSessionLive(user, session)) throw invalidCredentials();
  return { caller: { kind: "session", userId, platformId, sessionId }, alongside: read };
}
