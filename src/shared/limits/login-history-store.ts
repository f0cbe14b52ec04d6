import { comparedEmail } from "../runtime/email.ts";
import { sha256Hex } from "../runtime/secrets.ts";
import { rowCodec, text } from "../runtime/storage/codec.ts";
import { DamagedRow, unlessDamaged } from "../runtime/storage/damaged-row.ts";
import type { Row } from "../runtime/storage/row.ts";
import { afterPrefix, type Table } from "../runtime/storage/table.ts";
import { inBatches } from "../runtime/promises.ts";

const MINUTE_MS = 60_000;
/** How long a failure counts for its group. */
const GROUP_MS = 15 * MINUTE_MS;
/** How long a failure counts for the email. */
const EMAIL_MS = 60 * MINUTE_MS;
/** Maximum failures of an email within the hour, as a multiple of those of one group. */
const EMAIL_PER_GROUP = 20;
/** Maximum wrong codes of the second factor within the hour, from all callers together. */
const CODES_MAX = 10;

/**
 * What failed: a password, a code of the second factor, or a code from a known device or in a session. The last kind
 * counts for the user's codes, and otherwise in the history of the device or session.
 */
export type FailureKind = "password" | "code" | "own_code";

interface LoginFailure {
  readonly kind: FailureKind;
  /** Where it came from: a hash of the caller's network, of the device or of the session. */
  readonly group: string;
  readonly at: number;
  /** How many resets the user of a wrong code had. The code counts until the next one. 0 for a password. */
  readonly resets: number;
}

/** What failed for an email, a known device or a session, oldest first. */
export type LoginHistory = readonly LoginFailure[];

export const NO_FAILURES: LoginHistory = [];

/** Returns the whole seconds until there are fewer than `max` failures, or 0 for now. */
function secondsUntilFewer(failures: LoginHistory, max: number, ms: number, now: number): number {
  const counted = failures.filter(({ at }) => at > now - ms);
  const oldest = counted.at(-max);
  return oldest === undefined ? 0 : Math.max(1, Math.ceil((oldest.at + ms - now) / 1000));
}

/** Where a try comes from, and how many may fail. */
export interface TryFrom {
  readonly group: string;
  /** Maximum failures of one group within 15 minutes. */
  readonly attemptsMax: number;
}

/** Returns the whole seconds until the next try from a group is admitted, or 0 for now. */
export function blockedSeconds(
  history: LoginHistory,
  { group, attemptsMax }: TryFrom,
  now: number,
): number {
  const counted = history.filter(({ kind }) => kind !== "own_code");
  const own = counted.filter((failure) => failure.group === group);
  return Math.max(
    secondsUntilFewer(own, attemptsMax, GROUP_MS, now),
    secondsUntilFewer(counted, attemptsMax * EMAIL_PER_GROUP, EMAIL_MS, now),
  );
}

/** Returns the whole seconds until the next code of the second factor is checked, for any caller, or 0 for now. */
export function codeBlockedSeconds(history: LoginHistory, resets: number, now: number): number {
  const codes = history.filter((one) => one.kind !== "password" && one.resets === resets);
  return secondsUntilFewer(codes, CODES_MAX, EMAIL_MS, now);
}

export function wrongCodesIn(history: LoginHistory, resets: number, now: number): number {
  const isCounted = (one: LoginFailure) => one.kind !== "password" && one.resets === resets;
  return history.filter((one) => isCounted(one) && one.at > now - EMAIL_MS).length;
}

/** Adds a failure and drops those that no longer count. */
export function afterFailure(history: LoginHistory, failure: LoginFailure): LoginHistory {
  return [...history.filter(({ at }) => at > failure.at - EMAIL_MS), failure];
}

/** Reports whether none of the failures counts any more. */
export function isForgotten(history: LoginHistory, now: number): boolean {
  return history.every(({ at }) => at + EMAIL_MS <= now);
}

const REMOVALS_AT_ONCE = 16;
const PARTITION_PREFIX = "login|";
const GROUP_DIGITS = 12;

export type LoginSubject = { readonly kind: "email"; readonly email: string } | OwnSubject;

/** A known device of the user, or a live session. Failures of strangers don't count there. */
export interface OwnSubject {
  readonly kind: "device" | "session";
  readonly id: string;
}

/** Returns the name under which failures of a network, device or session are counted for an email: a hash of both. */
export const failureGroup = (email: string, from: string): string =>
  sha256Hex(`${comparedEmail(email)}|${from}`).slice(0, GROUP_DIGITS);

/** Makes the key. Many rows share a partition, so that the purge can find them. */
function historyKey(subject: LoginSubject) {
  const isEmail = subject.kind === "email";
  const name = isEmail ? comparedEmail(subject.email) : `${subject.kind}|${subject.id}`;
  const hash = sha256Hex(name);
  return { partitionKey: PARTITION_PREFIX + hash.slice(0, 2), rowKey: hash };
}

/** What failed. The row key is the hash of the email, or of the id of the device or session. */
export const loginHistoryRow = rowCodec("login history", {
  /** One entry per failure: a letter for its kind, the group, the time in base 36, and the number of resets. */
  failures: text(),
});

const LETTERS = { password: "p", code: "c", own_code: "o" } as const;
const KINDS = new Map(
  (Object.keys(LETTERS) as FailureKind[]).map((kind) => [LETTERS[kind] as string, kind]),
);

function toHistory(row: Row): LoginHistory {
  const { failures } = loginHistoryRow.decode(row);
  return failures
    .split(",")
    .filter(Boolean)
    .map((entry) => {
      const [, letter = "", group = "", time = "", count = ""] =
        /^(\w)(\w+)\.(\w+)\.(\d+)$/.exec(entry) ?? [];
      const kind = KINDS.get(letter);
      const [at, resets] = [Number.parseInt(time, 36), Number(count)];
      if (kind !== undefined && !Number.isNaN(at)) return { kind, group, at, resets };
      const damage = { kind: loginHistoryRow.kind, rowKey: row.rowKey, column: "failures" };
      throw new DamagedRow({ ...damage, reason: "is no list of failures" });
    });
}

/** Stores failed logins by email, known or not, by device and by session (table `ratewindows`). Only hashes are stored. */
export class LoginHistoryStore {
  readonly #table: Table;

  constructor(table: Table) {
    this.#table = table;
  }

  /** Finds the history. It is empty when there is none. @throws DamagedRow */
  async find(subject: LoginSubject): Promise<LoginHistory> {
    const { partitionKey, rowKey } = historyKey(subject);
    const stored = await this.#table.find(partitionKey, rowKey);
    return stored === undefined ? NO_FAILURES : toHistory(stored.row);
  }

  /**
   * Stores what `change` returns, and calls it again if another write came in between. Undefined means no write, and an
   * empty history removes the row. Returns the history that `change` was last given.
   */
  async change(
    subject: LoginSubject,
    change: (history: LoginHistory) => LoginHistory | undefined,
  ): Promise<LoginHistory> {
    const { partitionKey, rowKey } = historyKey(subject);
    let history = NO_FAILURES;
    await this.#table.change(partitionKey, rowKey, (stored) => {
      history = stored === undefined ? NO_FAILURES : toHistory(stored.row);
      const changed = change(history);
      if (changed === undefined) return { kind: "leave" };
      if (changed.length === 0) return { kind: "remove" };
      const entries = changed.map(
        ({ kind, group, at, resets }) => `${LETTERS[kind]}${group}.${at.toString(36)}.${resets}`,
      );
      return { kind: "keep", columns: loginHistoryRow.encode({ failures: entries.join(",") }) };
    });
    return history;
  }

  async removeForgotten(now: Date, after: string | undefined) {
    const partitions = { from: PARTITION_PREFIX, before: afterPrefix(PARTITION_PREFIX) };
    const { rows, next } = await this.#table.select({ partitions }, after);
    const forgotten = rows.filter(({ row }) => {
      const history = unlessDamaged(() => toHistory(row));
      return history !== undefined && isForgotten(history, now.getTime());
    });
    const removed = await inBatches(forgotten, REMOVALS_AT_ONCE, ({ partitionKey, row, etag }) =>
      this.#table.delete(partitionKey, row.rowKey, etag),
    );
    return { removed: removed.filter(Boolean).length, next };
  }
}
