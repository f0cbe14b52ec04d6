import type { SessionScope } from "../../callers/scope.ts";
import type { ConfirmedSession } from "../../callers/tokens.ts";
import { AppError } from "../../runtime/errors.ts";
import type { TenantsDeps } from "../deps.ts";
import { confirmIdentity, getOwnUser, recordOwn } from "./own-account.ts";
import type { ConfirmSession } from "./schema.ts";
import { spend, type Proof } from "./second-factor.ts";
import { checkSecondStep, isProof } from "./second-step.ts";
import { isDeviceOf, type User } from "./user.ts";

const CONFIRMED = "user.confirmed";

/** Uses a code up. Returns whether it was not used up by another request. */
async function useUp(services: TenantsDeps, user: User, proof: Proof): Promise<boolean> {
  const updated = await services.stores.users.update(user, ({ secondFactor }) => {
    const left = secondFactor === null ? undefined : spend(secondFactor, proof);
    return left && { secondFactor: left };
  });
  return updated !== undefined;
}

/**
 * Takes the password, and the code where TOTP is on, again. Returns a token of the same session, with which what a stolen
 * session must not do is allowed for ten minutes.
 * @throws AppError `invalid_credentials`, `totp_required`, `rate_limited`
 */
export async function confirmSession(
  services: TenantsDeps,
  scope: SessionScope,
  { password, totpCode, deviceToken = "" }: ConfirmSession,
): Promise<ConfirmedSession> {
  const { passwords, devices, sessions } = services.secrets;
  const user = await getOwnUser(services, scope);
  // Without a limit, a caller that knows the password could make the service hash without end.
  await services.limits.admitPasswords({ kind: "user", id: user.id });
  const device = deviceToken === "" ? undefined : await devices.read(deviceToken);
  const deviceId = device !== undefined && isDeviceOf(device, user) ? device.deviceId : undefined;
  const attempt = await confirmIdentity(services, scope, { user, action: CONFIRMED, deviceId });
  if (!(await passwords.matches(password, user.passwordHash)))
    throw await attempt.failed("password", passwords.missingPepper(user.passwordHash));
  const step = await checkSecondStep(services, attempt, { user, totpCode });
  if (step.kind === "wrong") throw await attempt.failed("code");
  if (step.kind === "missing") {
    await attempt.passed();
    throw new AppError("totp_required", "Send the authenticator app's code as `totpCode`.");
  }
  await attempt.succeeded(isProof(step) ? "code" : "password");
  if (isProof(step) && !(await useUp(services, user, step))) throw await attempt.failed("code");
  recordOwn(services, scope, CONFIRMED);
  const { caller } = scope;
  const { userId, platformId, sessionVersion: version, sessionId, expiresAt } = caller;
  const present = sessionId === null ? undefined : { sessionId, expiresAt };
  return await sessions.issue({ userId, platformId, version }, present);
}
