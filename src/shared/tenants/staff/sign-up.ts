import { recordAudit } from "../../audit/record.ts";
import type { SessionCaller } from "../../callers/caller.ts";
import type { RequestScope } from "../../callers/scope.ts";
import type { IssuedSession } from "../../callers/session.ts";
import { AppError } from "../../runtime/errors.ts";
import type { TenantsDeps } from "../deps.ts";
import { openPlatform } from "../platforms/open-platform.ts";
import type { Platform } from "../platforms/platform.ts";
import type { SignUp } from "./schema.ts";
import { viewUser, type User, type UserView } from "./user.ts";

export interface SignedIn extends IssuedSession {
  readonly platform: Platform;
  readonly user: UserView;
}

/** The session that a user gets for having proved who they are. */
export async function startSession(
  services: TenantsDeps,
  platform: Platform,
  user: User,
): Promise<SignedIn> {
  const { id: userId, platformId, sessionVersion: version } = user;
  const session = await services.sessions.issue({ userId, platformId, version });
  return { platform, user: viewUser(user), ...session };
}

/** @throws AppError `signup_disabled`, `conflict` */
export async function signUp(
  services: TenantsDeps,
  scope: RequestScope,
  { email, password, platformName }: SignUp,
): Promise<SignedIn> {
  if (!services.config.identity.allowSignup)
    throw new AppError(
      "signup_disabled",
      "Signing up is closed. Ask the operators for a platform.",
    );
  const { platform, user } = await openPlatform(services, { name: platformName, email, password });
  const caller: SessionCaller = {
    kind: "session",
    userId: user.id,
    platformId: platform.id,
    sessionId: null,
  };
  recordAudit(
    services,
    { ...scope, caller, platformId: platform.id },
    { action: "platform.created", target: { type: "platform", id: platform.id } },
  );
  return await startSession(services, platform, user);
}
