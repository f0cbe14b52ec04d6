import type { DeviceClaims, DeviceTokens } from "../../callers/device-tokens.ts";
import type { UserRole } from "../../callers/caller.ts";
import type { IssuedSession } from "../../callers/tokens.ts";
import { comparedEmail } from "../../runtime/email.ts";
import type { Locale } from "../../runtime/locale.ts";
import type { UsedLink } from "../links/schema.ts";
import type { Platform } from "../../tenants/tenants.ts";
import type { SecondFactor } from "./second-factor.ts";

interface EndedSession {
  readonly id: string;
  /** When the session and everything that it made will have expired. */
  readonly until: string;
}

/** Where a user has logged in from, and which notices they got. */
export interface SignIns {
  /** Hashes of networks, the latest last. */
  readonly networks: readonly { readonly hash: string; readonly at: string }[];
  /** When they were last notified of a login. */
  readonly toldAt: string | null;
  /** When they were last notified of wrong codes. */
  readonly codesToldAt: string | null;
}

const NO_SIGN_INS: SignIns = { networks: [], toldAt: null, codesToldAt: null };

const DAY_MS = 24 * 60 * 60_000;

/** Reports whether a user was notified less than a day ago. */
export function isToldToday(toldAt: string | null, now: Date): boolean {
  return toldAt !== null && now.getTime() - Date.parse(toldAt) < DAY_MS;
}

/** A member of a platform's staff, who logs in to the dashboard. */
export interface User {
  readonly id: string;
  readonly platformId: string;
  readonly email: string;
  readonly role: UserRole;
  readonly emailVerified: boolean;
  /** The language of mails to them. */
  readonly locale: Locale;
  readonly passwordHash: string;
  /** Raised when the password changes, but not by a new hash of the same password. */
  readonly passwordVersion: number;
  /** Part of every session. Raising it ends all sessions that were issued before. */
  readonly sessionVersion: number;
  /** The session that changed the password, and was therefore not ended. */
  readonly keptSessionId: string | null;
  /** Sessions that were ended one by one, kept as long as something that they made could be valid. */
  readonly endedSessions: readonly EndedSession[];
  readonly secondFactor: SecondFactor | null;
  /** How many times a reset link has set the password. */
  readonly resets: number;
  /** The link that last changed the user by the form of its page. */
  readonly usedLink: UsedLink | null;
  readonly signIns: SignIns;
  readonly createdAt: string;
  readonly lastLoginAt: string | null;
}

export interface UserView {
  readonly id: string;
  readonly email: string;
  readonly role: UserRole;
  readonly emailVerified: boolean;
  readonly locale: Locale;
  readonly totpEnabled: boolean;
  readonly createdAt: string;
  readonly lastLoginAt: string | null;
}

export interface FoundUser extends UserView {
  readonly platformId: string;
}

export function newUser(
  identity: Pick<
    User,
    | "id"
    | "platformId"
    | "email"
    | "role"
    | "emailVerified"
    | "locale"
    | "passwordHash"
    | "createdAt"
  >,
): User {
  return {
    ...identity,
    passwordVersion: 1,
    sessionVersion: 1,
    keptSessionId: null,
    endedSessions: [],
    secondFactor: null,
    resets: 0,
    usedLink: null,
    signIns: NO_SIGN_INS,
    lastLoginAt: null,
  };
}

/** Returns the changes of a new password. It ends every session of the user, and makes their devices unknown. */
export function withPassword(
  { passwordVersion, sessionVersion }: User,
  passwordHash: string,
  keptSessionId: string | null,
) {
  return {
    passwordHash,
    passwordVersion: passwordVersion + 1,
    sessionVersion: sessionVersion + 1,
    keptSessionId,
  };
}

export function isEmailOf({ email }: Pick<User, "email">, address: string): boolean {
  return comparedEmail(email) === comparedEmail(address);
}

/** Reports whether logging in asks for a code. */
export function hasTotp(user: User): user is User & { readonly secondFactor: SecondFactor } {
  return user.secondFactor?.confirmed === true;
}

/** Reports whether the device is the user's, and the password unchanged since the login from it. */
export function isDeviceOf(device: DeviceClaims, user: User | undefined): boolean {
  return (
    device.userId === user?.id &&
    device.platformId === user.platformId &&
    device.passwordVersion === user.passwordVersion
  );
}

/** Issues the token of a device that the user has proved their identity on. A new password ends it. */
export const issueDevice = (
  devices: DeviceTokens,
  { id: userId, platformId, passwordVersion }: User,
): Promise<string> => devices.issue({ userId, platformId, passwordVersion });

/** Reports whether neither a logout nor a change of the password has ended a session. */
export function isSessionLive(
  user: User,
  session: { readonly version: number; readonly sessionId: string | null },
): boolean {
  if (user.endedSessions.some(({ id }) => id === session.sessionId)) return false;
  if (session.version === user.sessionVersion) return true;
  return session.sessionId !== null && session.sessionId === user.keptSessionId;
}

export function viewUser(user: User): UserView {
  const { id, email, role, emailVerified, locale, createdAt, lastLoginAt } = user;
  return {
    id,
    email,
    role,
    emailVerified,
    locale,
    totpEnabled: hasTotp(user),
    createdAt,
    lastLoginAt,
  };
}

/** The answer to logging in or signing up. */
export interface SignedIn extends IssuedSession {
  readonly platform: Platform;
  readonly user: UserView;
  /** Sent with the user's next login from this device. */
  readonly deviceToken: string;
}
