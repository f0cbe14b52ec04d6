import { numberOf, textOf, textOrNull, type Row } from "../storage/row.ts";
import type { Table } from "../storage/table.ts";
import type { User } from "./user.ts";

const rowKey = (userId: string) => `U|${userId}`;

/** The row of a user, for the transaction that makes it. */
export function userRow(user: User): Row {
  return {
    rowKey: rowKey(user.id),
    email: user.email,
    passwordHash: user.passwordHash,
    sessionVersion: user.sessionVersion,
    totpEnabled: user.totpEnabled,
    createdAt: user.createdAt,
    lastLoginAt: user.lastLoginAt ?? "",
  };
}

function toUser(platformId: string, row: Row): User {
  return {
    id: row.rowKey.slice(rowKey("").length),
    platformId,
    email: textOf(row, "email"),
    passwordHash: textOf(row, "passwordHash"),
    sessionVersion: numberOf(row, "sessionVersion"),
    totpEnabled: row["totpEnabled"] === true,
    createdAt: textOf(row, "createdAt"),
    lastLoginAt: textOrNull(row, "lastLoginAt"),
  };
}

/** Staff of the platforms, in the platform's partition. */
export class UserStore {
  readonly #tenants: Table;

  constructor(tenants: Table) {
    this.#tenants = tenants;
  }

  async find(platformId: string, userId: string): Promise<User | undefined> {
    const stored = await this.#tenants.find(platformId, rowKey(userId));
    return stored === undefined ? undefined : toUser(platformId, stored.row);
  }

  /** Ends every session issued so far. */
  async endSessions(platformId: string, userId: string): Promise<void> {
    await this.#tenants.update(platformId, rowKey(userId), (row) => ({
      sessionVersion: numberOf(row, "sessionVersion") + 1,
    }));
  }

  /** A new hash replaces the old one only while that is still the stored one. */
  async recordLogin(
    user: User,
    at: string,
    newPasswordHash: string | undefined,
  ): Promise<User | undefined> {
    const row = await this.#tenants.update(user.platformId, rowKey(user.id), (row) => ({
      lastLoginAt: at,
      ...(newPasswordHash !== undefined && row["passwordHash"] === user.passwordHash
        ? { passwordHash: newPasswordHash }
        : {}),
    }));
    return row === undefined ? undefined : toUser(user.platformId, row);
  }
}
