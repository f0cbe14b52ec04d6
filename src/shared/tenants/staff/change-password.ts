import type { SessionScope } from "../../callers/scope.ts";
import { admitPasswords } from "../../limits/password-limit.ts";
import type { TenantsDeps } from "../deps.ts";
import { confirmIdentity, getOwnUser, recordOwn } from "./confirm-identity.ts";
import type { ChangePassword } from "./schema.ts";

const ACTION = "user.password_changed";

/**
 * Ends every session of the user but the one that asks. Of concurrent changes one is made.
 * @throws AppError `invalid_credentials`, `rate_limited`, `service_unavailable`
 */
export async function changePassword(
  services: TenantsDeps,
  scope: SessionScope,
  { currentPassword, newPassword }: ChangePassword,
): Promise<void> {
  const user = await getOwnUser(services, scope);
  // Whoever knows the password could have it hashed without end.
  await admitPasswords(services, { kind: "user", id: user.id });
  const attempt = await confirmIdentity(services, scope, { user, action: ACTION });
  if (!(await services.passwords.matches(currentPassword, user.passwordHash)))
    throw await attempt.failed();
  await attempt.passed();
  const passwordHash = await services.passwords.hash(newPassword);
  const { sessionVersion } = user;
  const changed = await services.users.update(user, (present) =>
    // Another version: the password is another one by now, or a log-out has ended this session.
    present.sessionVersion === sessionVersion
      ? {
          passwordHash,
          sessionVersion: sessionVersion + 1,
          keptSessionId: scope.caller.sessionId,
        }
      : undefined,
  );
  if (changed === undefined) throw await attempt.failed();
  recordOwn(services, scope, ACTION);
}
