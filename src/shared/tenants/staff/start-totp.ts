import { randomBytes } from "node:crypto";
import type { SessionScope } from "../../callers/scope.ts";
import type { TenantsDeps } from "../deps.ts";
import { sealSecret } from "./check-code.ts";
import { getOwnUser, recordOwn, refuseState } from "./confirm-identity.ts";
import type { SecondFactor } from "./second-factor.ts";
import { otpauthUrl, toBase32 } from "./totp.ts";
import { hasTotp } from "./user.ts";

/** As long as the digest of SHA-1 (RFC 4226, 4). */
const SECRET_BYTES = 20;
const ACTION = "user.totp_started";

export interface TotpSecret {
  readonly secret: string;
  readonly otpauthUrl: string;
}

/** A secret for an authenticator app. Log-ins ask for nothing until its first code is confirmed. @throws AppError `invalid_state` */
export async function startTotp(services: TenantsDeps, scope: SessionScope): Promise<TotpSecret> {
  const user = await getOwnUser(services, scope);
  const secret = randomBytes(SECRET_BYTES);
  const secondFactor: SecondFactor = {
    sealedSecret: sealSecret(services, user, secret),
    confirmed: false,
    lastStep: 0,
    recoveryHashes: [],
  };
  const started = await services.users.update(user, (present) =>
    hasTotp(present) ? undefined : { secondFactor },
  );
  if (started === undefined)
    throw refuseState(services, scope, {
      action: ACTION,
      message: "TOTP is on already. Switch it off first.",
    });
  recordOwn(services, scope, ACTION);
  return { secret: toBase32(secret), otpauthUrl: otpauthUrl(user.email, secret) };
}
