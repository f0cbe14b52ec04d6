import { recordAudit } from "../../audit/record.ts";
import { invalidCredentials } from "../../callers/credential.ts";
import type { SessionScope } from "../../callers/scope.ts";
import { AppError } from "../../runtime/errors.ts";
import { beginLoginAttempt, type LoginAttempt } from "../../limits/login-attempt.ts";
import type { TenantsDeps } from "../deps.ts";
import type { User } from "./user.ts";

/** The user behind the session, as stored now. @throws AppError `invalid_credentials` when it was removed just now */
export async function getOwnUser(services: TenantsDeps, { caller }: SessionScope): Promise<User> {
  const user = await services.users.find(caller.platformId, caller.userId);
  if (user === undefined) throw invalidCredentials();
  return user;
}

/** Records what the user did, or was refused, to their own account. */
export function recordOwn(
  services: TenantsDeps,
  scope: SessionScope,
  action: string,
  outcome: "ok" | "denied" = "ok",
): void {
  const target = { type: "user", id: scope.caller.userId };
  recordAudit(services, scope, { action, target, outcome });
}

/** What the user may not do in this state, recorded. */
export function refuseState(
  services: TenantsDeps,
  scope: SessionScope,
  { action, message }: { readonly action: string; readonly message: string },
): AppError {
  recordOwn(services, scope, action, "denied");
  return new AppError("invalid_state", message);
}

/**
 * A signed-in user's try to show a password or a code once more. It counts like a log-in's, so that a stolen session
 * is no way around the limit of those.
 * @throws AppError `rate_limited`
 */
export async function confirmIdentity(
  services: TenantsDeps,
  scope: SessionScope,
  { user, action }: { readonly user: User; readonly action: string },
): Promise<LoginAttempt> {
  const recorded = async <T>(work: () => Promise<T>): Promise<T> => {
    try {
      return await work();
    } catch (error) {
      if (error instanceof AppError && error.code === "rate_limited")
        recordOwn(services, scope, action, "denied");
      throw error;
    }
  };
  const attempt = await recorded(() => beginLoginAttempt(services, user.email));
  return {
    failed() {
      recordOwn(services, scope, action, "denied");
      return attempt.failed();
    },
    passed: () => recorded(() => attempt.passed()),
    succeeded: () => recorded(() => attempt.succeeded()),
  };
}
