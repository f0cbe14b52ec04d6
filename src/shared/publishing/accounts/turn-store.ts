import { LOST, untilWon } from "../../runtime/until-won.ts";
import { serviceUnavailable } from "../../runtime/errors.ts";
import { sha256Hex } from "../../runtime/secrets.ts";
import { absentIs, longJsonOrNull, rowCodec, text, truth } from "../../runtime/storage/codec.ts";
import type { Row, RowWrite } from "../../runtime/storage/row.ts";
import { unlessDamaged } from "../../runtime/storage/damaged-row.ts";
import { afterPrefix, type Table } from "../../runtime/storage/table.ts";
import type { NetworkAccount } from "./account-store.ts";
import type { PostRef } from "../post.ts";

const ROW_KEY = "B";
/** Right behind the account's row, so that one read has both. */
const WAITERS = "B|";
/** Longer than a leg that is called takes to come, so that nobody gets in between. */
const CALLED_MS = 10_000;

/** A leg of an account, and where it is found. */
export interface LegOfAccount {
  readonly legKey: string;
  readonly place: PostRef;
}

/** The right to be the one leg that an account has in hand. */
export interface Turn {
  readonly account: NetworkAccount;
  readonly legKey: string;
  readonly etag: string;
  /** Others waited already when it was taken. */
  readonly isAwaited: boolean;
}

interface Lane {
  readonly legKey: string;
  readonly until: string;
  readonly isAwaited: boolean;
  /** Of version 0.2.0, which kept the legs in line here, in their order. */
  readonly waiters: readonly LegOfAccount[];
}

const partitionOf = ({ network, accountId }: NetworkAccount) =>
  `${network}|${sha256Hex(accountId)}`;

/** The leg that has an account. */
export const turnRow = rowCodec("account turn", {
  legKey: text(),
  until: text(),
  isAwaited: absentIs(false, truth()),
  waiters: longJsonOrNull<readonly LegOfAccount[]>(),
});

/** A leg that waits for the account. Its key begins with the post's id, so that they lie in the order of acceptance. */
const waiterRow = rowCodec("leg in line", {
  platformId: text(),
  profileId: text(),
  postId: text(),
});

const keyOf = (legKey: string) => WAITERS + legKey;

function toRow({ waiters, ...lane }: Lane): Row {
  const columns = { ...lane, waiters: waiters.length === 0 ? null : waiters };
  return { ...turnRow.encode(columns), rowKey: ROW_KEY };
}

function toLane(row: Row): Lane {
  const { waiters, isAwaited, ...lane } = turnRow.decode(row);
  const before = waiters ?? [];
  return { ...lane, isAwaited: isAwaited || before.length > 0, waiters: before };
}

const toWaiter = (row: Row): LegOfAccount => ({
  legKey: row.rowKey.slice(WAITERS.length),
  place: waiterRow.decode(row),
});

const isHeld = (lane: Lane, legKey: string, now: Date) =>
  lane.legKey !== legKey && lane.until > now.toISOString();

/**
 * Lets one leg at a time be worked on for a real account, whoever linked it (table `accounts`). The others wait in line,
 * each with a row of its own, however many they are. A leg that ends calls the first of them, so that a busy account is
 * never idle, and no leg in line costs anything until it is called.
 *
 * A leg joins the line and marks the account's row in one transaction. Whoever gives the account back removes that row
 * only in the version it knows, and so looks again when another leg has joined since.
 */
export class TurnStore {
  readonly #table: Table;

  constructor(table: Table) {
    this.#table = table;
  }

  /**
   * Takes the account for a leg; undefined when another leg has it: this one then is in line, and whoever has the
   * account calls it. A leg that has the account already keeps it, since it was interrupted. After `until` another leg
   * may take it, in case the worker has crashed.
   * @throws AppError `service_unavailable` when it is unknown whether that was done; repeating the call is safe
   */
  take(
    account: NetworkAccount,
    leg: LegOfAccount,
    { now, until }: { readonly now: Date; readonly until: string },
  ): Promise<Turn | undefined> {
    const { legKey } = leg;
    const partition = partitionOf(account);
    return untilWon(async () => {
      const own = { legKey, until, isAwaited: false, waiters: [] };
      const inserted = await this.#table.insertIfAbsent(partition, toRow(own));
      if (inserted !== undefined) return { account, legKey, etag: inserted, isAwaited: false };
      const stored = await this.#table.find(partition, ROW_KEY);
      if (stored === undefined) return LOST;
      const lane = toLane(stored.row);
      if (isHeld(lane, legKey, now)) {
        const isThere = lane.waiters.some((waiter) => waiter.legKey === legKey);
        return isThere || (await this.#join(partition, leg)) ? undefined : LOST;
      }
      const waiters = lane.waiters.filter((waiter) => waiter.legKey !== legKey);
      const taken = toRow({ ...lane, legKey, until, waiters });
      const etag = await this.#table.mergeIfUnchanged(partition, taken, stored.etag);
      return etag === undefined ? LOST : { account, legKey, etag, isAwaited: lane.isAwaited };
    });
  }

  /** Returns false when the account's row is gone. */
  async #join(partition: string, leg: LegOfAccount): Promise<boolean> {
    const row = { ...waiterRow.encode(leg.place), rowKey: keyOf(leg.legKey) };
    const marked = { ...turnRow.encodePart({ isAwaited: true }), rowKey: ROW_KEY };
    const result = await this.#table.transact(partition, [
      // In any version: those that join at the same time don't disturb each other.
      { kind: "merge", row: marked, etag: "*" },
      { kind: "put", row },
    ]);
    if (result.kind === "in_doubt") throw serviceUnavailable(result.cause);
    return result.kind === "applied";
  }

  /** Keeps the account for longer, unless another leg has taken it over. */
  async extend({ account, legKey }: Turn, until: string): Promise<void> {
    await this.#table.update(partitionOf(account), ROW_KEY, (row) =>
      turnRow.decode(row).legKey === legKey ? turnRow.encodePart({ until }) : undefined,
    );
  }

  /**
   * Gives the account to the first leg in line and returns it, to be hinted. Without one, removes the account's row.
   * @throws AppError `service_unavailable` when it is unknown whether that was done
   */
  async release(turn: Turn, now: Date): Promise<LegOfAccount | undefined> {
    const { account, legKey, etag, isAwaited } = turn;
    const isGone = !isAwaited && (await this.#table.delete(partitionOf(account), ROW_KEY, etag));
    return isGone ? undefined : this.pass(account, legKey, now);
  }

  /** Does what `release` does for a leg that has the account, if it has, without the turn that it was given. */
  pass(account: NetworkAccount, legKey: string, now: Date): Promise<LegOfAccount | undefined> {
    const partition = partitionOf(account);
    const until = new Date(now.getTime() + CALLED_MS).toISOString();
    let called: LegOfAccount | undefined;
    return untilWon(async () => {
      const line = await this.#readLine(partition, legKey);
      if (line === LOST || line === undefined) return line;
      const { lane, etag, next } = line;
      // Also when the answer to the call was lost.
      if (lane.legKey !== legKey) return lane.legKey === called?.legKey ? called : undefined;
      if (next === undefined)
        return (await this.#table.delete(partition, ROW_KEY, etag)) ? undefined : LOST;
      called = next.leg;
      const waiters = lane.waiters.filter((waiter) => waiter !== called);
      const row = toRow({ ...lane, legKey: called.legKey, until, waiters });
      const writes: RowWrite[] = [{ kind: "merge", row, etag }];
      if (next.rowKey !== undefined) writes.push({ kind: "delete", rowKey: next.rowKey });
      return (await this.#table.transact(partition, writes)).kind === "applied" ? called : LOST;
    });
  }

  /**
   * Reads the account's row and the first other leg in line. Removes a place of the leg's own, of when it had no turn,
   * and damaged ones, whose legs the sweep finds: lost, since there may be others behind them.
   */
  async #readLine(partition: string, legKey: string) {
    const range = { partitionKey: partition, from: ROW_KEY, before: afterPrefix(WAITERS) };
    const [first, behind] = await this.#table.list({ ...range, limit: 2 });
    if (first?.row.rowKey !== ROW_KEY) return undefined;
    const lane = toLane(first.row);
    const waiting = behind && unlessDamaged(() => toWaiter(behind.row));
    if (behind !== undefined && (waiting === undefined || waiting.legKey === legKey)) {
      await this.#table.delete(partition, behind.row.rowKey);
      return LOST;
    }
    const rowKey = behind?.row.rowKey;
    const places = [
      ...lane.waiters.map((leg) => ({ leg, rowKey: undefined })),
      ...(waiting === undefined ? [] : [{ leg: waiting, rowKey }]),
    ];
    const [next] = places.toSorted((one, other) => (one.leg.legKey < other.leg.legKey ? -1 : 1));
    return { lane, etag: first.etag, next };
  }
}
