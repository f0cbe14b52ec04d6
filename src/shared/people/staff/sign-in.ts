import type { SessionCaller } from "../../callers/caller.ts";
import { invalidLogin, sessionExpired } from "../../callers/credential.ts";
import { CONNECT_SESSION_SECONDS_MAX } from "../../connections/connections.ts";
import type { RequestScope, SessionScope } from "../../callers/scope.ts";
import { knownUser, strangerFrom, type LoginAttempt } from "../../limits/limits.ts";
import { isMailOn } from "../../mail/mail.ts";
import { AppError } from "../../runtime/errors.ts";
import { newId } from "../../runtime/ids.ts";
import type { Clock } from "../../runtime/process.ts";
import type { PeopleDeps, PeopleSecrets } from "../deps.ts";
import type { Platform } from "../../tenants/tenants.ts";
import { deviceTokenOf, type DeviceProof } from "./device-cookie.ts";
import { openPlatform } from "./open-platform.ts";
import type { LogIn, LogOut, SignUp } from "./schema.ts";
import { spend } from "./second-factor.ts";
import { startWithCredit } from "./starting-credit.ts";
import { checkSecondStep, isProof, type SecondStep } from "./second-step.ts";
import { storeLogin } from "./store-login.ts";
import type { UserChange } from "./user-store.ts";
import { wrongCode } from "./wrong-code.ts";
import {
  isDeviceOf,
  isEmailOf,
  isSessionLive,
  issueDevice,
  viewUser,
  type SignedIn,
  type User,
} from "./user.ts";

/** Opens a session for a user who has proved their identity. */
export async function openSession(
  secrets: PeopleSecrets,
  platform: Platform,
  user: User,
): Promise<SignedIn> {
  const { id: userId, platformId, sessionVersion: version } = user;
  const [{ token, expiresIn, expiresAt }, deviceToken] = await Promise.all([
    secrets.sessions.issue({ userId, platformId, version }),
    issueDevice(secrets.devices, user),
  ]);
  return { platform, user: viewUser(user), token, expiresIn, expiresAt, deviceToken };
}

/**
 * Creates a platform with its first user, and signs that user in.
 * @throws AppError `signup_disabled`, `rate_limited`, `validation_failed`, `conflict`
 */
export async function signUp(
  deps: PeopleDeps,
  scope: RequestScope,
  { email, password, platformName, locale = "en" }: SignUp,
): Promise<SignedIn> {
  if (!deps.config.identity.allowSignup)
    throw new AppError(
      "signup_disabled",
      "Signing up is closed. Ask the operators for a platform.",
    );
  await deps.limits.admitSignUp(scope.ip);
  const { platform, user } = await openPlatform(deps, {
    name: platformName,
    email,
    password,
    path: "password",
    locale,
    emailVerified: !isMailOn(deps.config),
    ip: scope.ip,
  });
  const caller = signingInCaller(deps.clock, user);
  deps.audit.record(
    { ...scope, caller, platformId: platform.id },
    { action: "platform.created", target: { type: "platform", id: platform.id } },
  );
  // If mail is sent, the credit follows once the email is verified.
  if (user.emailVerified) await startWithCredit(deps, user, scope.requestId);
  return await openSession(deps.secrets, platform, user);
}

/**
 * Finds the user who logs in with an email address. For an unknown address it reads a user that doesn't exist, so
 * that both take the same number of storage requests, and the response time doesn't reveal known addresses.
 */
async function findUser(
  deps: Pick<PeopleDeps, "clock" | "stores">,
  email: string,
): Promise<User | undefined> {
  const now = deps.clock.now();
  const nobody = { platformId: newId("platform", now), userId: newId("user", now) };
  const { platformId, userId } = (await deps.stores.emails.find(email)) ?? nobody;
  const user = await deps.stores.users.find(platformId, userId);
  // A claim that a change of the email left behind lets nobody in.
  return user !== undefined && isEmailOf(user, email) ? user : undefined;
}

type Device = Awaited<ReturnType<PeopleSecrets["devices"]["read"]>>;

interface AdmittedLogIn {
  readonly attempt: LoginAttempt;
  readonly user: User | undefined;
  /** Whether the user has logged in from the device before. */
  readonly isOwnDevice: boolean;
}

/** Begins an attempt and finds the user. The user is read first only for a known device, so others cost less. */
async function beginAttempt(
  deps: PeopleDeps,
  { ip }: RequestScope,
  email: string,
  device: Device | undefined,
): Promise<AdmittedLogIn> {
  if (device === undefined) {
    const attempt = await deps.limits.beginLoginAttempt({ email, ip });
    return { attempt, user: await findUser(deps, email), isOwnDevice: false };
  }
  const user = await findUser(deps, email);
  const isOwnDevice = isDeviceOf(device, user);
  const own = isOwnDevice ? ({ kind: "device", id: device.deviceId } as const) : undefined;
  const attempt = await deps.limits.beginLoginAttempt({ email, ip, own });
  return { attempt, user, isOwnDevice };
}

interface CheckedPassword extends AdmittedLogIn {
  readonly isRight: boolean;
  /** A new hash of the right password, when the stored one is outdated. */
  readonly newHash: string | undefined;
}

/**
 * Checks the password. The whole check waits for its turn, so what is refused has cost nothing. A known email and an
 * unknown one wait alike.
 * @throws AppError `rate_limited`; `service_unavailable` when too many wait
 */
async function checkLogInPassword(
  deps: PeopleDeps,
  scope: RequestScope,
  { email, password, ...proof }: LogIn & DeviceProof,
): Promise<CheckedPassword> {
  const { devices, passwords } = deps.secrets;
  const deviceToken = deviceTokenOf(deps.config, email, proof);
  const device = deviceToken === undefined ? undefined : await devices.read(deviceToken);
  const asker =
    device === undefined ? strangerFrom(scope.ip) : knownUser(device.platformId, device.userId);
  return await passwords.inTurn(asker, async (hashing) => {
    const begun = await beginAttempt(deps, scope, email, device);
    const { user } = begun;
    const isRight = (await hashing.matches(password, user?.passwordHash)) && user !== undefined;
    const isOutdated = isRight && passwords.needsNewHash(user.passwordHash);
    const newHash = isOutdated ? await hashing.hash(password) : undefined;
    return { ...begun, isRight, newHash };
  });
}

interface ProvenIdentity {
  readonly at: string;
  readonly step: SecondStep;
  /** A new hash of the same password, when the stored one is outdated. */
  readonly newHash: string | undefined;
}

/** Returns the changes of a login to the stored user, or undefined when the code was used up meanwhile. */
function afterLogin(present: User, checked: User, proved: ProvenIdentity): UserChange | undefined {
  const { at, step, newHash } = proved;
  const { lastLoginAt, secondFactor, passwordHash } = present;
  const left = isProof(step) && secondFactor !== null ? spend(secondFactor, step) : secondFactor;
  if (left === undefined) return undefined;
  return {
    lastLoginAt: lastLoginAt !== null && lastLoginAt > at ? lastLoginAt : at,
    ...(isProof(step) ? { secondFactor: left } : {}),
    ...(newHash !== undefined && passwordHash === checked.passwordHash
      ? { passwordHash: newHash }
      : {}),
  };
}

/**
 * Logs a user in. A wrong email, password or code get the same answer, the first two after the same work.
 * @throws AppError `invalid_credentials`, `totp_required`, `platform_suspended`, `platform_closed`, `rate_limited`,
 * `service_unavailable`
 */
export async function logIn(
  deps: PeopleDeps,
  scope: RequestScope,
  input: LogIn & DeviceProof,
): Promise<SignedIn> {
  const checked = await checkLogInPassword(deps, scope, input);
  const { attempt, user, isOwnDevice, isRight, newHash } = checked;
  if (user === undefined) throw await attempt.failed();
  const record = (outcome: "ok" | "denied") => recordLogin(deps, scope, user, outcome);
  if (!isRight) {
    record("denied");
    throw await attempt.failed("password", deps.secrets.passwords.missingPepper(user.passwordHash));
  }
  const step = await checkSecondStep(deps, attempt, {
    user,
    totpCode: input.totpCode,
  });
  if (step.kind === "wrong") {
    record("denied");
    throw await wrongCode(deps, attempt, user);
  }
  if (step.kind === "missing") {
    record("denied");
    await attempt.passed();
    throw new AppError("totp_required", "Send the authenticator app's code as `totpCode`.");
  }
  await attempt.succeeded(isProof(step) ? "code" : "password");
  const platform = await deps.tenants.findPlatform(user.platformId);
  if (platform === undefined) throw invalidLogin();
  if (platform.status === "suspended") {
    record("denied");
    throw new AppError("platform_suspended", "The platform is suspended.");
  }
  if (platform.status === "closed") {
    record("denied");
    throw new AppError("platform_closed", "The platform is closed.");
  }
  const proved: ProvenIdentity = { at: deps.clock.now().toISOString(), step, newHash };
  const change = (present: User) => afterLogin(present, user, proved);
  const recorded = await storeLogin(deps, scope, { user, isOwnDevice, change });
  if (recorded === undefined) {
    record("denied");
    throw await attempt.failed("code");
  }
  record("ok");
  // The version with which the password was checked, so that a concurrent change of the password ends this session too.
  const { sessionVersion } = user;
  return await openSession(deps.secrets, platform, { ...recorded, sessionVersion });
}

/** Returns the caller that a user is who has no session yet. */
function signingInCaller(clock: Clock, user: User): SessionCaller {
  const { id: userId, platformId, sessionVersion, role } = user;
  const expiresAt = clock.now().toISOString();
  const session = { sessionId: null, sessionVersion, expiresAt, confirmedUntil: null };
  return { kind: "session", userId, platformId, role, ...session };
}

function recordLogin(
  deps: Pick<PeopleDeps, "clock" | "audit">,
  scope: RequestScope,
  user: User,
  outcome: "ok" | "denied",
): void {
  const caller = signingInCaller(deps.clock, user);
  const target = { type: "user", id: user.id };
  const action = "user.logged_in";
  const { platformId } = user;
  deps.audit.record({ ...scope, caller, platformId }, { action, target, outcome });
}

/** More sessions than a person ends one by one within two days. */
const ENDED_SESSIONS_MAX = 200;

/** Ends this session alone, or every session when the list of ended ones is full. */
function endOwnSession(
  { endedSessions, sessionVersion }: User,
  { sessionId, expiresAt }: SessionCaller,
  now: Date,
): UserChange {
  const present = endedSessions.filter((one) => Date.parse(one.until) > now.getTime());
  if (sessionId === null || present.length >= ENDED_SESSIONS_MAX)
    return { sessionVersion: sessionVersion + 1, keptSessionId: null };
  const until = new Date(Date.parse(expiresAt) + CONNECT_SESSION_SECONDS_MAX * 1000).toISOString();
  return { endedSessions: [...present, { id: sessionId, until }] };
}

/**
 * Ends every session of the user, or only the caller's.
 * @throws AppError `session_expired` when the caller's session has ended meanwhile
 */
export async function logOut(
  deps: PeopleDeps,
  scope: SessionScope,
  { everywhere }: LogOut,
): Promise<void> {
  const { userId, platformId, sessionId, sessionVersion: version } = scope.caller;
  const updated = await deps.stores.users.update({ platformId, id: userId }, (present) => {
    if (!isSessionLive(present, { version, sessionId })) return undefined;
    return everywhere
      ? { sessionVersion: present.sessionVersion + 1, keptSessionId: null }
      : endOwnSession(present, scope.caller, deps.clock.now());
  });
  if (updated === undefined) throw sessionExpired();
  deps.audit.record(scope, {
    action: "user.logged_out",
    target: { type: "user", id: userId },
  });
}
