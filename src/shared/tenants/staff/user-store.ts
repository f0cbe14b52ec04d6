import { AppError, serviceUnavailable } from "../../runtime/errors.ts";
import { inverted, isId, timeOfId } from "../../runtime/ids.ts";
import { randomToken } from "../../runtime/secrets.ts";
import {
  numberOf,
  textOf,
  textOrNull,
  type Row,
  type RowValue,
  type StoredRow,
} from "../../runtime/storage/row.ts";
import { LOST, pauseAfter, untilWon } from "../../runtime/storage/retry-lost.ts";
import { scan, type Scanned } from "../../runtime/storage/scan.ts";
import { afterPrefix, type Table } from "../../runtime/storage/table.ts";
import type { SecondFactor } from "./second-factor.ts";
import type { User } from "./user.ts";

const PREFIX = "U|";
const ID_START = "U|0000000000000000|".length;
/** Changes with every user that is removed, so that two removals can't both see the other's user as the one who stays. */
const REMOVALS = "REMOVALS";
/** A lost answer costs up to ten seconds, a lost race almost nothing. */
const LOST_ANSWERS_MAX = 3;
const MARK_BYTES = 9;

export type UserChange = Partial<
  Pick<User, "passwordHash" | "sessionVersion" | "keptSessionId" | "secondFactor" | "lastLoginAt">
>;

/** Computed from the id, which carries its time: newest first, and still one point read. */
const rowKeyOf = (userId: string) => `${PREFIX}${inverted(timeOfId("user", userId))}|${userId}`;

function factorColumns(factor: SecondFactor | null) {
  return {
    totpSecret: factor?.sealedSecret ?? "",
    totpConfirmed: factor?.confirmed ?? false,
    totpLastStep: factor?.lastStep ?? 0,
    recoveryHashes: factor?.recoveryHashes.join(",") ?? "",
  };
}

function columnsOf(change: UserChange): Record<string, RowValue> {
  const { passwordHash, sessionVersion, keptSessionId, secondFactor, lastLoginAt } = change;
  return {
    ...(passwordHash === undefined ? {} : { passwordHash }),
    ...(sessionVersion === undefined ? {} : { sessionVersion }),
    ...(keptSessionId === undefined ? {} : { keptSessionId: keptSessionId ?? "" }),
    ...(secondFactor === undefined ? {} : factorColumns(secondFactor)),
    ...(lastLoginAt === undefined ? {} : { lastLoginAt: lastLoginAt ?? "" }),
  };
}

/** The row of a user, for the transaction that makes it. */
export function userRow(user: User): Row {
  const { id, email, createdAt } = user;
  return { rowKey: rowKeyOf(id), email, createdAt, ...columnsOf(user) };
}

function toFactor(row: Row): SecondFactor | null {
  const sealedSecret = textOf(row, "totpSecret");
  if (sealedSecret === "") return null;
  return {
    sealedSecret,
    confirmed: row["totpConfirmed"] === true,
    lastStep: numberOf(row, "totpLastStep"),
    recoveryHashes: textOf(row, "recoveryHashes").split(",").filter(Boolean),
  };
}

function toUser(platformId: string, row: Row): User {
  return {
    id: row.rowKey.slice(ID_START),
    platformId,
    email: textOf(row, "email"),
    passwordHash: textOf(row, "passwordHash"),
    sessionVersion: numberOf(row, "sessionVersion"),
    keptSessionId: textOrNull(row, "keptSessionId"),
    secondFactor: toFactor(row),
    createdAt: textOf(row, "createdAt"),
    lastLoginAt: textOrNull(row, "lastLoginAt"),
  };
}

/** Whether the write may still have had its effect; throws on what is no lost answer. */
function lostAnswer(error: unknown): AppError {
  if (error instanceof AppError && error.code === "service_unavailable") return error;
  throw error;
}

/** Staff of the platforms, in the platform's partition. */
export class UserStore {
  readonly #tenants: Table;

  constructor(tenants: Table) {
    this.#tenants = tenants;
  }

  async find(platformId: string, userId: string): Promise<User | undefined> {
    if (!isId("user", userId)) return undefined;
    const stored = await this.#tenants.find(platformId, rowKeyOf(userId));
    return stored === undefined ? undefined : toUser(platformId, stored.row);
  }

  /** Newest first; `after` is where the last listing stopped. */
  list(platformId: string, after: string | undefined, limit: number): Promise<Scanned<User>> {
    return scan(this.#tenants, {
      partitionKey: platformId,
      from: after ?? PREFIX,
      before: afterPrefix(PREFIX),
      limit,
      pick: ({ row }) => toUser(platformId, row),
    });
  }

  /** A user under a fresh id: whatever stands there already is this call's own work. */
  async create(user: User): Promise<void> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        await this.#tenants.insertIfAbsent(user.platformId, userRow(user));
        return;
      } catch (error) {
        const lost = lostAnswer(error);
        if (attempt === LOST_ANSWERS_MAX) throw lost;
        await pauseAfter(attempt);
      }
    }
  }

  /**
   * Stores what `change` makes of the user, once: decided anew whenever somebody else wrote in between, and known to be
   * stored by a mark of this call when the answer is lost. Undefined when the user is gone or `change` answers undefined.
   * @throws AppError `service_unavailable` when the outcome stays unknown
   */
  async update(
    { platformId, id }: Pick<User, "platformId" | "id">,
    change: (user: User) => UserChange | undefined,
  ): Promise<User | undefined> {
    const rowKey = rowKeyOf(id);
    const mark = randomToken(MARK_BYTES);
    const lost: AppError[] = [];
    return untilWon(async () => {
      const stored = await this.#tenants.find(platformId, rowKey);
      if (stored === undefined) return undefined;
      const user = toUser(platformId, stored.row);
      if (stored.row["changeMark"] === mark) return user;
      const changed = change(user);
      // What speaks against the change may be its own effect, which somebody else's mark covers by now.
      if (changed === undefined && lost[0] !== undefined) throw lost[0];
      if (changed === undefined) return undefined;
      const row = { ...columnsOf(changed), changeMark: mark, rowKey };
      try {
        const etag = await this.#tenants.mergeIfUnchanged(platformId, row, stored.etag);
        return etag === undefined ? LOST : { ...user, ...changed };
      } catch (error) {
        if (lost.push(lostAnswer(error)) === LOST_ANSWERS_MAX) throw lost[0];
        return LOST;
      }
    });
  }

  /** Removes the user unless nobody else would be left: of two that remove each other one stays. */
  async deleteUnlessLast(
    platformId: string,
    userId: string,
  ): Promise<"deleted" | "absent" | "last"> {
    let inDoubt = 0;
    return untilWon(async (attempts) => {
      // Read before the users: a removal that they don't show yet changes it, and refuses the transaction.
      const removals = await this.#tenants.find(platformId, REMOVALS);
      const [user, others] = await Promise.all([
        this.find(platformId, userId),
        this.list(platformId, undefined, 2),
      ]);
      // It was there at first: an earlier try removed it, whatever became of its answer, or somebody else did.
      if (user === undefined) return attempts === 1 ? "absent" : "deleted";
      if (others.items.length < 2) return "last";
      const { kind } = await this.#tenants.transact(platformId, [
        { kind: "delete", rowKey: rowKeyOf(userId) },
        removalWrite(removals, userId),
      ]);
      if (kind === "applied") return "deleted";
      if (kind === "in_doubt" && (inDoubt += 1) === LOST_ANSWERS_MAX) throw serviceUnavailable();
      return LOST;
    });
  }
}

function removalWrite(removals: StoredRow | undefined, userId: string) {
  const row = { rowKey: REMOVALS, lastRemoved: userId };
  return removals === undefined
    ? { kind: "create" as const, row }
    : { kind: "replace" as const, row, etag: removals.etag };
}
