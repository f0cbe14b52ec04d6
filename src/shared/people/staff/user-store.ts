import { creation } from "../../runtime/storage/row.ts";
import * as z from "zod";
import { USER_ROLES, type UserRole } from "../../callers/caller.ts";
import { walletOf } from "../../ledger/ledger.ts";
import { accessOperation, type Commit, isHeadRow } from "../../partition/partition.ts";
import { invariant } from "../../runtime/errors.ts";
import { isId } from "../../runtime/ids.ts";
import { LOCALES, type Locale } from "../../runtime/locale.ts";
import { randomToken } from "../../runtime/secrets.ts";
import { shape } from "../../runtime/shape.ts";
import {
  integer,
  json,
  oneOf,
  rowCodec,
  text,
  textOrNull,
  truth,
} from "../../runtime/storage/codec.ts";
import type { Columns, Row } from "../../runtime/storage/row.ts";
import { newestFirst } from "../../runtime/storage/newest-first.ts";
import type { ScannedPage } from "../../runtime/storage/scan.ts";
import type { Table } from "../../runtime/storage/table.ts";
import {
  isLastOwner,
  isLastUser,
  ownerCountWrite,
  PLATFORM_ROW_KEY,
  userCountWrite,
} from "../../tenants/tenants.ts";
import type { SecondFactor } from "./second-factor.ts";
import type { User } from "./user.ts";

const MARK_BYTES = 9;

/** Maximum rows of a platform that holds nothing: itself, its head and wallet, its user and the mails to that user. */
const ROWS_OF_EMPTY_MAX = 40;
const isOfEmptyPlatform = (rowKey: string) =>
  rowKey === PLATFORM_ROW_KEY || isHeadRow(rowKey) || rowKey.startsWith("M|");

/** A user. The row key has the id. */
export const userRow = rowCodec("user", {
  email: text(),
  role: oneOf(USER_ROLES),
  // Whether the email is proved to be the user's. Always true for a user who was created while no mail was sent.
  emailVerified: truth(),
  locale: oneOf(LOCALES),
  createdAt: text(),
  passwordHash: text(),
  passwordVersion: integer(),
  sessionVersion: integer(),
  keptSessionId: textOrNull(),
  endedSessions: json(
    shape((): z.ZodType<User["endedSessions"]> =>
      z.array(z.looseObject({ id: z.string(), until: z.string() })).readonly(),
    ),
  ),
  // "" when the user has no second factor.
  totpSecret: text(),
  totpConfirmed: truth(),
  totpStartedAt: text(),
  totpLastStep: integer(),
  recoveryHashes: text(),
  signIns: json(
    shape((): z.ZodType<User["signIns"]> =>
      z.looseObject({
        networks: z.array(z.looseObject({ hash: z.string(), at: z.string() })).readonly(),
        toldAt: z.string().nullable(),
        codesToldAt: z.string().nullable(),
      }),
    ),
  ),
  lastLoginAt: textOrNull(),
  resets: integer(),
  usedLink: json(
    shape((): z.ZodType<User["usedLink"]> =>
      z.looseObject({ tokenHash: z.string(), browserHash: z.string(), at: z.string() }).nullable(),
    ),
  ),
  // "" until the user is first changed.
  changeMark: text(),
});

export type UserChange = Partial<
  Pick<
    User,
    | "email"
    | "emailVerified"
    | "locale"
    | "passwordHash"
    | "passwordVersion"
    | "sessionVersion"
    | "keptSessionId"
    | "endedSessions"
    | "secondFactor"
    | "resets"
    | "usedLink"
    | "signIns"
    | "lastLoginAt"
  >
>;

const users = newestFirst("user", "U|", toUser);
export const userKey = users.key;

function factorColumns(factor: SecondFactor | null) {
  return {
    totpSecret: factor?.sealedSecret ?? "",
    totpConfirmed: factor?.confirmed ?? false,
    totpStartedAt: factor?.startedAt ?? "",
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
  return { ...columns, rowKey: userKey(user.id) };
}

export function toUser(platformId: string, row: Row): User {
  const { changeMark: _mark, ...columns } = userRow.decode(row);
  const { totpSecret, totpConfirmed, totpStartedAt, totpLastStep, recoveryHashes, ...user } =
    columns;
  const secondFactor: SecondFactor | null =
    totpSecret === ""
      ? null
      : {
          sealedSecret: totpSecret,
          confirmed: totpConfirmed,
          startedAt: totpStartedAt,
          lastStep: totpLastStep,
          recoveryHashes: recoveryHashes.split(",").filter(Boolean),
        };
  return { ...user, id: users.idOf(row), platformId, secondFactor };
}

/** Reports whether a change ends sessions, verifies the email, or switches the second factor on or off. */
function changesAccess(user: User, { secondFactor, ...change }: UserChange): boolean {
  const { sessionVersion, keptSessionId, endedSessions } = change;
  if ([sessionVersion, keptSessionId, endedSessions].some((one) => one !== undefined)) return true;
  if (change.emailVerified !== undefined && change.emailVerified !== user.emailVerified)
    return true;
  const isOn = user.secondFactor?.confirmed === true;
  return secondFactor !== undefined && (secondFactor?.confirmed === true) !== isOn;
}

/** Stores the staff of platforms, each in the platform's partition. */
export class UserStore {
  readonly #core: Table;
  readonly #commit: Commit;

  constructor(core: Table, commit: Commit) {
    this.#core = core;
    this.#commit = commit;
  }

  find(platformId: string, userId: string): Promise<User | undefined> {
    return users.find(this.#core, platformId, userId);
  }

  /** Reports whether a user is stored, damaged or not. */
  async isStored(platformId: string, userId: string): Promise<boolean> {
    if (!isId("user", userId)) return false;
    return (await this.#core.find(platformId, userKey(userId))) !== undefined;
  }

  /** Lists users, newest first, without damaged ones. `after` is where the last page ended. */
  list(platformId: string, after: string | undefined, limit: number): Promise<ScannedPage<User>> {
    return users.list(this.#core, platformId, { after, limit });
  }

  /** Stores a new user with `more` new rows, and counts the user. May be repeated. */
  async create(user: User, more: readonly Row[] = []): Promise<void> {
    const key = userKey(user.id);
    await this.#commit<void>(
      user.platformId,
      accessOperation([key, PLATFORM_ROW_KEY], ({ row }) => {
        if (row(key) !== undefined) return { answer: undefined };
        const platform = row(PLATFORM_ROW_KEY);
        invariant(platform !== undefined, "a user was made for no platform");
        const writes = [
          ...[newUserRow(user), ...more].map(creation),
          userCountWrite(platform, 1, user.role),
        ];
        return { answer: undefined, writes, raises: false };
      }),
    );
  }

  /**
   * Stores what `change` makes of the user, exactly once. A mark recognizes its own write after a lost answer:
   * otherwise a login that has used up a code would be refused because of that very code. Raises the access version
   * when sessions were ended or the second factor was switched on or off. Returns undefined when the user is gone or
   * `change` returns undefined. `more` are new rows of the same transaction, which may depend on the stored user.
   * @throws DamagedRow
   * @throws AppError `service_unavailable` when the outcome stays unknown
   */
  update(
    { platformId, id }: Pick<User, "platformId" | "id">,
    change: (user: User) => UserChange | undefined,
    more: readonly Row[] | ((user: User) => readonly Row[]) = [],
  ): Promise<User | undefined> {
    const key = userKey(id);
    const mark = randomToken(MARK_BYTES);
    return this.#commit<User | undefined>(
      platformId,
      accessOperation([key], ({ row }) => {
        const stored = row(key);
        if (stored === undefined) return { answer: undefined };
        const user = toUser(platformId, stored.row);
        if (userRow.decode(stored.row).changeMark === mark) return { answer: user };
        const changed = change(user);
        if (changed === undefined) return { answer: undefined };
        const columns = { ...changeColumns(changed, mark), rowKey: key };
        const rows = typeof more === "function" ? more(user) : more;
        return {
          answer: { ...user, ...changed },
          writes: [{ kind: "merge", row: columns, etag: stored.etag }, ...rows.map(creation)],
          raises: changesAccess(user, changed),
        };
      }),
    );
  }

  /** Removes a user unless it is the platform's last owner. When two owners remove each other, one stays. */
  deleteUnlessLast(
    platformId: string,
    userId: string,
    more: readonly Row[] = [],
  ): Promise<"deleted" | "absent" | "last"> {
    return this.#delete({ platformId, userId, more });
  }

  /** Removes a user. A platform that has then no owner is suspended. */
  async deleteOrSuspend(
    platformId: string,
    userId: string,
    { at, more }: { readonly at: string; readonly more: readonly Row[] },
  ): Promise<"deleted" | "absent"> {
    const outcome = await this.#delete({ platformId, userId, suspendedAt: at, more });
    invariant(outcome !== "last", "the last owner was kept");
    return outcome;
  }

  #delete({
    platformId,
    userId,
    suspendedAt,
    more,
  }: {
    readonly platformId: string;
    readonly userId: string;
    readonly suspendedAt?: string;
    readonly more: readonly Row[];
  }): Promise<"deleted" | "absent" | "last"> {
    const key = userKey(userId);
    return this.#commit<"deleted" | "absent" | "last">(
      platformId,
      accessOperation([key, PLATFORM_ROW_KEY], ({ row }, tried) => {
        const platform = row(PLATFORM_ROW_KEY);
        // The user existed at the first try. An earlier try with a lost answer, or another request, has removed it.
        const stored = row(key);
        if (stored === undefined || platform === undefined) return tried ?? { answer: "absent" };
        const { role } = toUser(platformId, stored.row);
        const isLast = role === "owner" && isLastOwner(platform.row);
        if (isLast && suspendedAt === undefined) return { answer: "last" };
        const removed = { kind: "delete", rowKey: key } as const;
        const counted = userCountWrite(platform, -1, role, isLast ? suspendedAt : undefined);
        const writes = [removed, counted, ...more.map(creation)];
        return { answer: "deleted", writes, raises: true };
      }),
    );
  }

  /** Changes a user's role or language, unless the last owner would be lost. May be repeated. */
  change(
    { platformId, id: userId }: Pick<User, "platformId" | "id">,
    change: { readonly role?: UserRole | undefined; readonly locale?: Locale | undefined },
    more: readonly Row[] = [],
  ): Promise<User | "absent" | "last"> {
    const key = userKey(userId);
    return this.#commit<User | "absent" | "last">(
      platformId,
      accessOperation<User | "absent" | "last">([key, PLATFORM_ROW_KEY], ({ row }) => {
        const [stored, platform] = [row(key), row(PLATFORM_ROW_KEY)];
        if (stored === undefined || platform === undefined) return { answer: "absent" };
        const user = toUser(platformId, stored.row);
        const { role = user.role, locale = user.locale } = change;
        const isOtherRole = role !== user.role;
        if (!isOtherRole && locale === user.locale) return { answer: user };
        if (isOtherRole && role !== "owner" && isLastOwner(platform.row)) return { answer: "last" };
        const columns = { ...userRow.encodePart({ role, locale }), rowKey: key };
        const writes = [
          { kind: "merge", row: columns, etag: stored.etag } as const,
          ...(isOtherRole ? [ownerCountWrite(platform, role === "owner" ? 1 : -1)] : []),
          ...more.map(creation),
        ];
        return { answer: { ...user, role, locale }, writes, raises: isOtherRole };
      }),
    );
  }

  /**
   * Removes a user whose email isn't verified, and the platform if it holds nothing but that user. Returns whether the
   * user is gone. Each verification is a transaction of the same partition, so one of both comes first. With
   * `unlessOthers`, a user stays whose platform holds something else. `unlist` removes a platform from the list of all.
   */
  async removeUnverified(
    { id: userId, platformId }: Pick<User, "id" | "platformId">,
    unlist: (platformId: string) => Promise<unknown>,
    { unlessOthers = false }: { readonly unlessOthers?: boolean } = {},
  ): Promise<boolean> {
    const key = userKey(userId);
    const range = { partitionKey: platformId, limit: ROWS_OF_EMPTY_MAX + 1 };
    const rowKeys = (await this.#core.list(range)).map(({ row }) => row.rowKey);
    const others = rowKeys.filter((one) => one !== key && !isOfEmptyPlatform(one));
    const isEmpty = others.length === 0 && rowKeys.length <= ROWS_OF_EMPTY_MAX;
    const outcome = await this.#commit<"kept" | "user" | "platform">(
      platformId,
      accessOperation([key, PLATFORM_ROW_KEY], ({ row }, tried) => {
        const [user, platform] = [row(key), row(PLATFORM_ROW_KEY)];
        if (user === undefined || platform === undefined) return tried ?? { answer: "user" };
        const { emailVerified, role } = userRow.decode(user.row);
        if (emailVerified) return { answer: "kept" };
        const removed = { kind: "delete", rowKey: key } as const;
        const isLast = isLastUser(platform.row);
        if (isLast && isEmpty && walletOf({ row }).balance === 0) {
          const whole = [removed, { kind: "delete", rowKey: PLATFORM_ROW_KEY } as const];
          return { answer: "platform", writes: whole, raises: true };
        }
        if (unlessOthers) return { answer: "kept" };
        const writes = [removed, userCountWrite(platform, -1, role)];
        return { answer: "user", writes, raises: true };
      }),
    );
    if (outcome === "platform") {
      await unlist(platformId);
      await this.#core.deleteAll(platformId, rowKeys.filter(isOfEmptyPlatform));
    }
    return outcome !== "kept";
  }
}
