import type { SecondFactor } from "./second-factor.ts";

/** A member of a platform's staff, who signs in to the dashboard. */
export interface User {
  readonly id: string;
  readonly platformId: string;
  readonly email: string;
  readonly passwordHash: string;
  /** Sessions carry it; raising it ends all that were issued before. */
  readonly sessionVersion: number;
  /** The session that changed the password outlives the change. */
  readonly keptSessionId: string | null;
  readonly secondFactor: SecondFactor | null;
  readonly createdAt: string;
  readonly lastLoginAt: string | null;
}

/** What an answer shows of a user. */
export interface UserView {
  readonly id: string;
  readonly email: string;
  readonly totpEnabled: boolean;
  readonly createdAt: string;
  readonly lastLoginAt: string | null;
}

/** A user as an invitation or a sign-up makes one. */
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

/** Whether log-ins ask for a code. */
export function hasTotp(user: User): user is User & { readonly secondFactor: SecondFactor } {
  return user.secondFactor?.confirmed === true;
}

export function isSessionLive(
  user: User,
  session: { readonly version: number; readonly sessionId: string },
): boolean {
  return session.version === user.sessionVersion || session.sessionId === user.keptSessionId;
}

export function viewUser(user: User): UserView {
  const { id, email, createdAt, lastLoginAt } = user;
  return { id, email, totpEnabled: hasTotp(user), createdAt, lastLoginAt };
}
