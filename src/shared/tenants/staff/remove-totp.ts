import type { SessionScope } from "../../callers/scope.ts";
import type { TenantsDeps } from "../deps.ts";
import { checkCode } from "./check-code.ts";
import { confirmIdentity, getOwnUser, recordOwn, refuseState } from "./confirm-identity.ts";
import type { RemoveTotp } from "./schema.ts";
import { spend } from "./second-factor.ts";
import { hasTotp } from "./user.ts";

const ACTION = "user.totp_disabled";

/** Switches TOTP off and forgets the recovery codes. @throws AppError `invalid_state`, `invalid_credentials`, `rate_limited` */
export async function removeTotp(
  services: TenantsDeps,
  scope: SessionScope,
  { password, code }: RemoveTotp,
): Promise<void> {
  const user = await getOwnUser(services, scope);
  if (!hasTotp(user))
    throw refuseState(services, scope, { action: ACTION, message: "TOTP is not on." });
  const attempt = await confirmIdentity(services, scope, { user, action: ACTION });
  const right = await services.passwords.matches(password, user.passwordHash);
  const proof = right ? checkCode(services, user, code) : undefined;
  if (proof === undefined) throw await attempt.failed();
  await attempt.succeeded();
  const removed = await services.users.update(user, ({ secondFactor }) =>
    secondFactor !== null && spend(secondFactor, proof) !== undefined
      ? { secondFactor: null }
      : undefined,
  );
  if (removed === undefined) throw await attempt.failed();
  recordOwn(services, scope, ACTION);
}
