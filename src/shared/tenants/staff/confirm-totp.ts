import type { SessionScope } from "../../callers/scope.ts";
import type { TenantsDeps } from "../deps.ts";
import { checkTotpCode, makeRecoveryCodes } from "./check-code.ts";
import { confirmIdentity, getOwnUser, recordOwn, refuseState } from "./confirm-identity.ts";
import type { ConfirmTotp } from "./schema.ts";
import { spend, type SecondFactor } from "./second-factor.ts";

const ACTION = "user.totp_enabled";

export interface RecoveryCodes {
  /** The only time they are shown. */
  readonly recoveryCodes: readonly string[];
}

/**
 * Switches TOTP on once a code has shown that the app knows the secret. That code is used up.
 * @throws AppError `invalid_state`, `invalid_credentials`, `rate_limited`
 */
export async function confirmTotp(
  services: TenantsDeps,
  scope: SessionScope,
  { code }: ConfirmTotp,
): Promise<RecoveryCodes> {
  const refuse = (message: string) => refuseState(services, scope, { action: ACTION, message });
  const user = await getOwnUser(services, scope);
  const { secondFactor } = user;
  if (secondFactor === null) throw refuse("Ask for a secret with POST /v1/auth/totp first.");
  if (secondFactor.confirmed) throw refuse("TOTP is on already.");
  const attempt = await confirmIdentity(services, scope, { user, action: ACTION });
  const proof = checkTotpCode(services, { ...user, secondFactor }, code);
  if (proof === undefined) throw await attempt.failed();
  await attempt.passed();
  const { codes, hashes } = makeRecoveryCodes(services, user);
  const isSame = (present: SecondFactor | null) =>
    present?.sealedSecret === secondFactor.sealedSecret && !present.confirmed;
  const confirmed = await services.users.update(user, (present) => {
    const spent = isSame(present.secondFactor) ? spend(secondFactor, proof) : undefined;
    return spent && { secondFactor: { ...spent, confirmed: true, recoveryHashes: hashes } };
  });
  if (confirmed === undefined) throw refuse("The secret was confirmed or replaced meanwhile.");
  recordOwn(services, scope, ACTION);
  return { recoveryCodes: codes };
}
