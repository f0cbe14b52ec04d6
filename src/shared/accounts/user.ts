/** A member of a platform's staff, who signs in to the dashboard. */
export interface User {
  readonly id: string;
  readonly platformId: string;
  readonly email: string;
  readonly passwordHash: string;
  /** Sessions carry it; raising it ends all that were issued before. */
  readonly sessionVersion: number;
  readonly totpEnabled: boolean;
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

export function viewUser({ id, email, totpEnabled, createdAt, lastLoginAt }: User): UserView {
  return { id, email, totpEnabled, createdAt, lastLoginAt };
}
