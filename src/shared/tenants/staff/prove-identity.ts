import type { SessionScope } from "../../callers/scope.ts";
import { AppError } from "../../runtime/errors.ts";
import type { TenantsDeps } from "../deps.ts";
import { checkCode } from "./check-second-factor.ts";
import { confirmIdentity, getOwnUser } from "./own-account.ts";
import { spend } from "./second-factor.ts";
import { hasTotp, type User } from "./user.ts";

interface Proof {
  readonly password: string;
  readonly totpCode?: string | undefined;
  /** What the proof is for, in the audit. */
  readonly action: string;
}

/**
 * Checks the password of the session's user and, where TOTP is on, a code, which is used up. Failures count as at log-in.
 * @throws AppError `invalid_credentials`, `totp_required`, `rate_limited`
 */
export async function proveIdentity(
  services: TenantsDeps,
  scope: SessionScope,
  { password, totpCode = "", action }: Proof,
): Promise<User> {
  const { passwords } = services.secrets;
  const user = await getOwnUser(services, scope);
  const attempt = await confirmIdentity(services, scope, { user, action });
  if (!(await passwords.matches(password, user.passwordHash)))
    throw await attempt.failed("password", passwords.missingPepper(user.passwordHash));
  if (!hasTotp(user)) {
    await attempt.succeeded("password");
    return user;
  }
  if (totpCode.trim() === "") {
    await attempt.passed();
    throw new AppError("totp_required", "Send the authenticator app's code as `totpCode`.");
  }
  await attempt.admitCode();
  const proof = checkCode(services, user, totpCode.trim());
  if (proof === undefined) throw await attempt.failed("code");
  await attempt.succeeded("code");
  const spent = await services.stores.users.update(user, ({ secondFactor }) => {
    const left = secondFactor === null ? undefined : spend(secondFactor, proof);
    return left && { secondFactor: left };
  });
  if (spent === undefined) throw await attempt.failed("code");
  return spent;
}
