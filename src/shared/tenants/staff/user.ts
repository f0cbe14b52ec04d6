import type { IssuedSession } from "../../callers/tokens.ts";
import type { Platform } from "../platform.ts";
import type { SecondFactor } from "./second-factor.ts";

/** A member of a platform's staff, who signs in to the dashboard. */
export interface User {
  readonly id: string;
  readonly platformId: string;
  readonly email: string;
  readonly passwordHash: string;
  /** Part of every session; raising it ends all sessions that were issued before. */
  readonly sessionVersion: number;
  /** The session that changed the password, which the change did not end. */
  readonly keptSessionId: string | null;
  readonly secondFactor: SecondFactor | null;
  readonly createdAt: string;
  readonly lastLoginAt: string | null;
}

export interface UserView {
  readonly id: string;
  readonly email: string;
  readonly totpEnabled: boolean;
  readonly createdAt: string;
  readonly lastLoginAt: string | null;
}

/** Returns a user as one is created. */
export function newUser(
  identity: Pick<User, "id" | "platformId" | "email" | "passwordHash" | "createdAt">,
): User {
  return {
    ...identity,
    sessionVersion: 1,
    keptSessionId: null,
    secondFactor: null,
    lastLoginAt: null,
  };
}

/** Returns whether logging in asks for a code. */
export function hasTotp(user: User): user is User & { readonly secondFactor: SecondFactor } {
  return user.secondFactor?.confirmed === true;
}

/** Returns whether a session was not ended by a log-out or a change of the password. */
export function isSessionLive(
  user: User,
  session: { readonly version: number; readonly sessionId: string | null },
): boolean {
  if (session.version === user.sessionVersion) return true;
  return session.sessionId !== null && session.sessionId === user.keptSessionId;
}

export function viewUser(user: User): UserView {
  const { id, email, createdAt, lastLoginAt } = user;
  return { id, email, totpEnabled: hasTotp(user), createdAt, lastLoginAt };
}

/** What the answer to signing in or up shows. */
export interface SignedIn extends IssuedSession {
  readonly platform: Platform;
  readonly user: UserView;
}
