import type { SessionScope } from "../../callers/scope.ts";
import type { ConfirmedSession } from "../../callers/tokens.ts";
import type { PeopleDeps } from "../deps.ts";
import { deviceTokenOf, type DeviceProof } from "./device-cookie.ts";
import { confirmIdentity, getOwnUser, recordOwn } from "./own-account.ts";
import type { ConfirmSession } from "./schema.ts";
import { proveIdentity } from "./prove-identity.ts";
import { isDeviceOf } from "./user.ts";

const CONFIRMED = "user.confirmed";

/**
 * Checks the password again, and the code with TOTP. Returns a token of the same session. For ten minutes it allows
 * what a stolen session must not do.
 * @throws AppError `invalid_credentials`, `totp_required`, `rate_limited`
 */
export async function confirmSession(
  deps: PeopleDeps,
  scope: SessionScope,
  { password, totpCode, ...proof }: ConfirmSession & DeviceProof,
): Promise<ConfirmedSession> {
  const { devices, sessions } = deps.secrets;
  const user = await getOwnUser(deps.stores.users, scope);
  // Without a limit, a caller who knows the password could make the service hash endlessly.
  await deps.limits.admitPasswords({ kind: "user", id: user.id });
  const deviceToken = deviceTokenOf(deps.config, user.email, proof);
  const device = deviceToken === undefined ? undefined : await devices.read(deviceToken);
  const deviceId = device !== undefined && isDeviceOf(device, user) ? device.deviceId : undefined;
  const attempt = await confirmIdentity(deps, scope, { user, action: CONFIRMED, deviceId });
  await proveIdentity(deps, attempt, { user, password, totpCode });
  recordOwn(deps.audit, scope, CONFIRMED);
  const { caller } = scope;
  const { userId, platformId, sessionVersion: version, sessionId, expiresAt } = caller;
  const present = sessionId === null ? undefined : { sessionId, expiresAt };
  return await sessions.issue({ userId, platformId, version }, present);
}
