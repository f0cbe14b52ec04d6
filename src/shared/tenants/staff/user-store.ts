import { endedByRequest, undoIfRefused, withoutChange } from "../../callers/access-check.ts";
import type { RaiseAccess } from "../../billing/access-version.ts";
import { AppError, serviceUnavailable } from "../../runtime/errors.ts";
import { inverted, isId, timeOfId } from "../../runtime/ids.ts";
import { randomToken } from "../../runtime/secrets.ts";
import { integer, rowCodec, text, textOrNull, truth } from "../../runtime/storage/codec.ts";
import type { Columns, Row, StoredRow } from "../../runtime/storage/row.ts";
import { LOST, pauseAfter, untilWon } from "../../runtime/until-won.ts";
import { scan, type Scanned } from "../../runtime/storage/scan.ts";
import { afterPrefix, type Table } from "../../runtime/storage/table.ts";
import type { SecondFactor } from "./second-factor.ts";
import type { User } from "./user.ts";

const PREFIX = "U|";
const ID_START = "U|0000000000000000|".length;
/** A lost answer takes up to ten seconds, a lost race almost no time. */
const LOST_ANSWERS_MAX = 3;
const MARK_BYTES = 9;

/** A user; the row key has the id. */
export const userRow = rowCodec("user", {
  email: text(),
  createdAt: text(),
  passwordHash: text(),
  sessionVersion: integer(),
  keptSessionId: textOrNull(),
  // "": the user has no second factor.
  totpSecret: text(),
  totpConfirmed: truth(),
  totpLastStep: integer(),
  recoveryHashes: text(),
  lastLoginAt: textOrNull(),
  // Absent: the user was never changed.
  changeMark: text(),
});

/** Changes with every user that is removed, so that two removals can't both count on the other user to stay. */
export const removalsRow = rowCodec("removed users", { lastRemoved: text() });
const REMOVALS = "REMOVALS";

export type UserChange = Partial<
  Pick<User, "passwordHash" | "sessionVersion" | "keptSessionId" | "secondFactor" | "lastLoginAt">
>;

/** Returns the row key. It has the id's time: lists are newest first, and a point read still finds it. */
const rowKeyOf = (userId: string) => `${PREFIX}${inverted(timeOfId("user", userId))}|${userId}`;

function factorColumns(factor: SecondFactor | null) {
  return {
    totpSecret: factor?.sealedSecret ?? "",
    totpConfirmed: factor?.confirmed ?? false,
    totpLastStep: factor?.lastStep ?? 0,
    recoveryHashes: factor?.recoveryHashes.join(",") ?? "",
  };
}

function changeColumns({ secondFactor, ...change }: UserChange, changeMark: string): Columns {
  const factor = secondFactor === undefined ? {} : factorColumns(secondFactor);
  return userRow.encodePart({ ...change, ...factor, changeMark });
}

/** Returns the row of a new user, for the transaction that creates it. */
export function newUserRow({ secondFactor, ...user }: User): Row {
  const columns = userRow.encode({ ...user, ...factorColumns(secondFactor), changeMark: "" });
  return { ...columns, rowKey: rowKeyOf(user.id) };
}

/** Decodes a user. @throws DamagedRow */
function toUser(platformId: string, row: Row): User {
  const { changeMark: _mark, ...columns } = userRow.decode(row);
  const { totpSecret, totpConfirmed, totpLastStep, recoveryHashes, ...user } = columns;
  const secondFactor: SecondFactor | null =
    totpSecret === ""
      ? null
      : {
          sealedSecret: totpSecret,
          confirmed: totpConfirmed,
          lastStep: totpLastStep,
          recoveryHashes: recoveryHashes.split(",").filter(Boolean),
        };
  return { ...user, id: row.rowKey.slice(ID_START), platformId, secondFactor };
}

/** Returns whether a change ends sessions, or switches the second factor on or off. */
function changesAccess(user: User, { secondFactor, ...change }: UserChange): boolean {
  if (change.sessionVersion !== undefined || change.keptSessionId !== undefined) return true;
  const isOn = user.secondFactor?.confirmed === true;
  return secondFactor !== undefined && (secondFactor?.confirmed === true) !== isOn;
}

/** Returns the error of a write that may have been applied all the same; throws any other. */
function lostAnswer(error: unknown): AppError {
  if (error instanceof AppError && error.code === "service_unavailable") return error;
  throw error;
}

/** Stores the staff of platforms, each in the platform's partition. */
export class UserStore {
  readonly #core: Table;
  readonly #raiseAccess: RaiseAccess;

  constructor(core: Table, raiseAccess: RaiseAccess) {
    this.#core = core;
    this.#raiseAccess = raiseAccess;
  }

  /** Finds a user. @throws DamagedRow */
  async find(platformId: string, userId: string): Promise<User | undefined> {
    if (!isId("user", userId)) return undefined;
    const stored = await this.#core.find(platformId, rowKeyOf(userId));
    return stored === undefined ? undefined : toUser(platformId, stored.row);
  }

  /** Lists users, newest first; `after` is where the last page ended. Leaves out damaged ones. */
  list(platformId: string, after: string | undefined, limit: number): Promise<Scanned<User>> {
    return scan(this.#core, {
      partitionKey: platformId,
      from: after ?? PREFIX,
      before: afterPrefix(PREFIX),
      limit,
      pick: ({ row }) => toUser(platformId, row),
    });
  }

  /** Stores a new user. The id was made for this call, so a row under it is its own work. */
  async create(user: User): Promise<void> {
    undoIfRefused(() => this.#core.delete(user.platformId, rowKeyOf(user.id)));
    for (let attempt = 1; ; attempt += 1) {
      try {
        await this.#core.insertIfAbsent(user.platformId, newUserRow(user));
        return;
      } catch (error) {
        const lost = lostAnswer(error);
        if (attempt === LOST_ANSWERS_MAX) throw lost;
        await pauseAfter(attempt);
      }
    }
  }

  /**
   * Stores what `change` makes of the user, exactly once. Calls `change` again when another write came in between, and
   * recognizes its own write by a mark when the answer was lost. Raises the access version when sessions were ended or
   * the second factor was switched on or off. Returns undefined when the user is gone or `change` returns undefined.
   * @throws DamagedRow
   * @throws AppError `service_unavailable` when the outcome stays unknown
   */
  async update(
    { platformId, id }: Pick<User, "platformId" | "id">,
    change: (user: User) => UserChange | undefined,
  ): Promise<User | undefined> {
    const rowKey = rowKeyOf(id);
    const mark = randomToken(MARK_BYTES);
    const lost: AppError[] = [];
    let raises = false;
    let replaced: { readonly before: User; readonly after: User } | undefined;
    undoIfRefused(() =>
      this.update({ platformId, id }, (present) =>
        replaced === undefined ? undefined : withoutChange(present, replaced),
      ),
    );
    const updated = await untilWon<User | undefined>(async () => {
      const stored = await this.#core.find(platformId, rowKey);
      if (stored === undefined) return undefined;
      const user = toUser(platformId, stored.row);
      if (userRow.decode(stored.row).changeMark === mark) return user;
      const changed = change(user);
      // The change may be refused because of its own effect, whose mark another write has replaced by now.
      if (changed === undefined && lost[0] !== undefined) throw lost[0];
      if (changed === undefined) return undefined;
      raises = changesAccess(user, changed);
      replaced = { before: user, after: { ...user, ...changed } };
      const row = { ...changeColumns(changed, mark), rowKey };
      try {
        const etag = await this.#core.mergeIfUnchanged(platformId, row, stored.etag);
        return etag === undefined ? LOST : { ...user, ...changed };
      } catch (error) {
        if (lost.push(lostAnswer(error)) === LOST_ANSWERS_MAX) throw lost[0];
        return LOST;
      }
    });
    // All sessions ended, the request's own among them.
    const endsAll = replaced?.before.sessionVersion !== replaced?.after.sessionVersion;
    if (endsAll && updated?.keptSessionId === null) endedByRequest(id);
    if (updated !== undefined && raises) await this.#raiseAccess(platformId);
    return updated;
  }

  /**
   * Removes a user unless it is the platform's last one, and raises the access version. When two users remove each other
   * at once, one stays.
   */
  async deleteUnlessLast(
    platformId: string,
    userId: string,
  ): Promise<"deleted" | "absent" | "last"> {
    let inDoubt = 0;
    let removed: User | undefined;
    undoIfRefused(async () => {
      if (removed !== undefined) await this.#core.insertIfAbsent(platformId, newUserRow(removed));
    });
    const outcome = await untilWon<"deleted" | "absent" | "last">(async (attempts) => {
      // Read before the users: a removal that these reads don't show yet changes it and makes the transaction fail.
      const removals = await this.#core.find(platformId, REMOVALS);
      const [user, others] = await Promise.all([
        this.find(platformId, userId),
        this.list(platformId, undefined, 2),
      ]);
      // It was there at the first attempt: an attempt whose answer was lost has removed it, or another request.
      if (user === undefined) return attempts === 1 ? "absent" : "deleted";
      if (others.items.length < 2) return "last";
      removed = user;
      const { kind } = await this.#core.transact(platformId, [
        { kind: "delete", rowKey: rowKeyOf(userId) },
        removalWrite(removals, userId),
      ]);
      if (kind === "applied") endedByRequest(userId);
      if (kind === "applied") return "deleted";
      if (kind === "refused") removed = undefined;
      if (kind === "in_doubt" && (inDoubt += 1) === LOST_ANSWERS_MAX) throw serviceUnavailable();
      return LOST;
    });
    // Also for one who is gone: an earlier request may have ended before it raised the version.
    if (outcome !== "last") await this.#raiseAccess(platformId);
    return outcome;
  }
}

function removalWrite(removals: StoredRow | undefined, userId: string) {
  const row = { ...removalsRow.encode({ lastRemoved: userId }), rowKey: REMOVALS };
  return removals === undefined
    ? { kind: "create" as const, row }
    : { kind: "replace" as const, row, etag: removals.etag };
}
