import { randomBytes } from "node:crypto";
import { sessionExpired } from "../../callers/credential.ts";
import type { SessionScope } from "../../callers/scope.ts";
import { knownUser, type LoginAttempt } from "../../limits/limits.ts";
import { AppError } from "../../runtime/errors.ts";
import type { UserStore } from "./user-store.ts";
import type { Audit } from "../../audit/audit.ts";
import type { PeopleDeps } from "../deps.ts";
import {
  checkCode,
  checkTotpCode,
  clockOffsetOf,
  makeRecoveryCodes,
  sealSecret,
} from "./check-second-factor.ts";
import type { ChangePassword, ConfirmTotp, RemoveTotp } from "./schema.ts";
import { requirePassword } from "./prove-identity.ts";
import {
  spend,
  type RecoveryCodes,
  type SecondFactor,
  type TotpSecret,
  otpauthUrl,
  toBase32,
} from "./second-factor.ts";
import { updateWithNotice } from "./update-with-notice.ts";
import { hashNewPassword } from "./weak-passwords.ts";
import { hasTotp, isSessionLive, issueDevice, withPassword, type User } from "./user.ts";
import { wrongCode } from "./wrong-code.ts";

/** Returns the stored user of the session. @throws AppError `session_expired` when it was just removed */
export async function getOwnUser(users: UserStore, { caller }: SessionScope): Promise<User> {
  const user = await users.find(caller.platformId, caller.userId);
  if (user === undefined) throw sessionExpired();
  return user;
}

/** Records what users did, or were refused, with their own account. */
export function recordOwn(
  audit: Audit,
  scope: SessionScope,
  action: string,
  outcome: "ok" | "denied" = "ok",
): void {
  const target = { type: "user", id: scope.caller.userId };
  audit.record(scope, { action, target, outcome });
}

/** Records and returns a refusal because of the account's state. */
function refuseState(
  audit: Audit,
  scope: SessionScope,
  { action, message }: { readonly action: string; readonly message: string },
): AppError {
  recordOwn(audit, scope, action, "denied");
  return new AppError("invalid_state", message);
}

interface Confirming {
  readonly user: User;
  readonly action: string;
  readonly deviceId?: string | undefined;
}

/**
 * Begins an attempt of a logged-in user to prove their identity again, by password or code. What fails counts against
 * the known device or the session, so that a stolen session can't guess, and strangers' failures don't block the owner.
 * @throws AppError `rate_limited`
 */
export async function confirmIdentity(
  deps: Pick<PeopleDeps, "audit" | "limits">,
  scope: SessionScope,
  { user, action, deviceId }: Confirming,
): Promise<LoginAttempt> {
  const recorded = async <T>(work: () => Promise<T>): Promise<T> => {
    try {
      return await work();
    } catch (error) {
      if (error instanceof AppError && error.code === "rate_limited")
        recordOwn(deps.audit, scope, action, "denied");
      throw error;
    }
  };
  const { sessionId } = scope.caller;
  const own =
    deviceId === undefined
      ? ({ kind: "session", id: sessionId ?? user.id } as const)
      : ({ kind: "device", id: deviceId } as const);
  const attempt = await recorded(() =>
    deps.limits.beginLoginAttempt({ email: user.email, ip: scope.ip, own }),
  );
  return {
    failed(what, failedCheck) {
      recordOwn(deps.audit, scope, action, "denied");
      return attempt.failed(what, failedCheck);
    },
    wrongCodes: () => attempt.wrongCodes(),
    admitCode: (of) => recorded(() => attempt.admitCode(of)),
    passed: () => recorded(() => attempt.passed()),
    succeeded: (what) => recorded(() => attempt.succeeded(what)),
  };
}

const PASSWORD_CHANGED = "user.password_changed";

/**
 * Changes the user's password, and ends all of their sessions except the caller's and the tokens of their devices. Returns
 * a new one for this device. Of concurrent changes, one is made.
 * @throws AppError `invalid_credentials`, `rate_limited`, `validation_failed`, `service_unavailable`
 */
export async function changePassword(
  deps: PeopleDeps,
  scope: SessionScope,
  { currentPassword, newPassword }: ChangePassword,
): Promise<{ readonly deviceToken: string }> {
  const user = await getOwnUser(deps.stores.users, scope);
  // Without a limit, a caller who knows the password could make the service hash endlessly.
  await deps.limits.admitPasswords({ kind: "user", id: user.id });
  const platform = await deps.tenants.findPlatform(user.platformId);
  if (platform === undefined) throw sessionExpired();
  const attempt = await confirmIdentity(deps, scope, { user, action: PASSWORD_CHANGED });
  await requirePassword(deps.secrets.passwords, attempt, { user, password: currentPassword });
  await attempt.passed();
  const passwordHash = await hashNewPassword(deps, knownUser(user.platformId, user.id), {
    path: "newPassword",
    password: newPassword,
    email: user.email,
    platformName: platform.name,
  });
  const { sessionId, sessionVersion: version } = scope.caller;
  let isLive = false;
  const changed = await updateWithNotice(
    deps,
    user,
    { kinds: ["passwordChanged"], ip: scope.ip },
    (present) => {
      isLive = isSessionLive(present, { sessionId, version });
      // With another version, this session has changed the password in another request.
      return isLive && present.passwordVersion === user.passwordVersion
        ? withPassword(present, passwordHash, sessionId)
        : undefined;
    },
  );
  if (changed === undefined) throw isLive ? await attempt.failed() : sessionExpired();
  recordOwn(deps.audit, scope, PASSWORD_CHANGED);
  return { deviceToken: await issueDevice(deps.secrets.devices, changed) };
}

/** As long as the digest of SHA-1 (RFC 4226, 4). */
const SECRET_BYTES = 20;
const TOTP_STARTED = "user.totp_started";

/**
 * Makes a secret for an authenticator app. Logging in asks for no code until a first one was confirmed.
 * @throws AppError `invalid_state`
 */
export async function startTotp(deps: PeopleDeps, scope: SessionScope): Promise<TotpSecret> {
  const user = await getOwnUser(deps.stores.users, scope);
  const secret = randomBytes(SECRET_BYTES);
  const secondFactor: SecondFactor = {
    sealedSecret: sealSecret(deps.config, user, secret),
    confirmed: false,
    startedAt: deps.clock.now().toISOString(),
    lastStep: 0,
    recoveryHashes: [],
  };
  const started = await deps.stores.users.update(user, (present) =>
    hasTotp(present) ? undefined : { secondFactor },
  );
  if (started === undefined)
    throw refuseState(deps.audit, scope, {
      action: TOTP_STARTED,
      message: "TOTP is already on. Switch it off first.",
    });
  recordOwn(deps.audit, scope, TOTP_STARTED);
  const { name } = deps.config.service;
  return { secret: toBase32(secret), otpauthUrl: otpauthUrl(name, user.email, secret) };
}

/** Time enough to install an app. The start itself needed a fresh confirmation. */
const START_MS_MAX = 30 * 60_000;
const TOTP_ENABLED = "user.totp_enabled";

/**
 * Switches TOTP on, given a code which shows that the app has the secret. The code is used up.
 * @throws AppError `invalid_state`, `invalid_credentials`, `rate_limited`
 */
export async function confirmTotp(
  deps: PeopleDeps,
  scope: SessionScope,
  { code }: ConfirmTotp,
): Promise<RecoveryCodes> {
  const refuse = (message: string) =>
    refuseState(deps.audit, scope, { action: TOTP_ENABLED, message });
  const user = await getOwnUser(deps.stores.users, scope);
  const { secondFactor } = user;
  if (secondFactor === null) throw refuse("Ask for a secret with POST /v1/auth/totp first.");
  if (secondFactor.confirmed) throw refuse("TOTP is on already.");
  if (deps.clock.now().getTime() - Date.parse(secondFactor.startedAt) > START_MS_MAX)
    throw refuse("The secret is older than half an hour. Ask for another with POST /v1/auth/totp.");
  const attempt = await confirmIdentity(deps, scope, { user, action: TOTP_ENABLED });
  const proof = checkTotpCode(deps, { ...user, secondFactor }, code);
  if (proof === undefined) {
    const refusal = await attempt.failed();
    const offset = clockOffsetOf(deps, { ...user, secondFactor }, code);
    if (refusal.code !== "invalid_credentials" || offset === undefined) throw refusal;
    const clock = `${Math.abs(offset)} s ${offset > 0 ? "ahead" : "behind"}`;
    const message = `The code is of another time: the phone's clock is about ${clock}. Set it to the automatic time, then send a new code.`;
    throw new AppError("invalid_credentials", message);
  }
  await attempt.passed();
  const { codes, hashes } = makeRecoveryCodes(deps.config, user);
  const isSame = (present: SecondFactor | null) =>
    present?.sealedSecret === secondFactor.sealedSecret && !present.confirmed;
  const confirmed = await updateWithNotice(
    deps,
    user,
    { kinds: ["secondFactorOn"], ip: scope.ip },
    (present) => {
      const spent = isSame(present.secondFactor) ? spend(secondFactor, proof) : undefined;
      return spent && { secondFactor: { ...spent, confirmed: true, recoveryHashes: hashes } };
    },
  );
  if (confirmed === undefined) throw refuse("The secret has been confirmed or replaced.");
  recordOwn(deps.audit, scope, TOTP_ENABLED);
  return { recoveryCodes: codes };
}

const TOTP_DISABLED = "user.totp_disabled";

/**
 * Switches TOTP off and removes the recovery codes.
 * @throws AppError `invalid_state`, `invalid_credentials`, `rate_limited`
 */
export async function removeTotp(
  deps: PeopleDeps,
  scope: SessionScope,
  { password, code }: RemoveTotp,
): Promise<void> {
  const user = await getOwnUser(deps.stores.users, scope);
  if (!hasTotp(user))
    throw refuseState(deps.audit, scope, { action: TOTP_DISABLED, message: "TOTP is not on." });
  const attempt = await confirmIdentity(deps, scope, { user, action: TOTP_DISABLED });
  await requirePassword(deps.secrets.passwords, attempt, { user, password });
  await attempt.admitCode(user);
  const proof = checkCode(deps, user, code);
  if (proof === undefined) throw await wrongCode(deps, attempt, user);
  await attempt.succeeded("code");
  const removed = await updateWithNotice(
    deps,
    user,
    { kinds: ["secondFactorOff"], ip: scope.ip },
    ({ secondFactor }) =>
      secondFactor !== null && spend(secondFactor, proof) !== undefined
        ? { secondFactor: null }
        : undefined,
  );
  if (removed === undefined) throw await attempt.failed("code");
  recordOwn(deps.audit, scope, TOTP_DISABLED);
}
