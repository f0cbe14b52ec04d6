import { serviceUnavailable } from "../../runtime/errors.ts";
import { sha256Hex } from "../../runtime/secrets.ts";
import { longJsonOrNull, rowCodec, text } from "../../runtime/storage/codec.ts";
import type { Row } from "../../runtime/storage/row.ts";
import type { Table } from "../../runtime/storage/table.ts";
import type { NetworkAccount } from "./account-store.ts";
import type { PostRef } from "../post.ts";

const ROW_KEY = "B";
/** Longer than a leg that is called takes to come, so that nobody gets in between. */
const CALLED_MS = 10_000;
/** More would make every write of the row dear. */
const WAITERS_MAX = 200;
const TRIES_MAX = 12;

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

/** `in_line`: whoever has the account calls. `line_full`: nobody will. */
export type Taking = Turn | "in_line" | "line_full";

interface Lane {
  readonly legKey: string;
  readonly until: string;
  /** In the order in which their posts were accepted, which their keys begin with. */
  readonly waiters: readonly LegOfAccount[];
}

const partitionOf = ({ network, accountId }: NetworkAccount) =>
  `${network}|${sha256Hex(accountId)}`;

/** The leg that has an account, and the legs that wait for it. */
export const turnRow = rowCodec("account turn", {
  legKey: text(),
  until: text(),
  waiters: longJsonOrNull<readonly LegOfAccount[]>(),
});

function toRow({ waiters, ...lane }: Lane): Row {
  const columns = { ...lane, waiters: waiters.length === 0 ? null : waiters };
  return { ...turnRow.encode(columns), rowKey: ROW_KEY };
}

function toLane(row: Row): Lane {
  const { waiters, ...lane } = turnRow.decode(row);
  return { ...lane, waiters: waiters ?? [] };
}

/** Returns the lane with one more leg in line; undefined when it is full. */
function withWaiter(lane: Lane, waiter: LegOfAccount): Lane | undefined {
  if (lane.waiters.some(({ legKey }) => legKey === waiter.legKey)) return lane;
  if (lane.waiters.length >= WAITERS_MAX) return undefined;
  const waiters = [...lane.waiters, waiter].toSorted((left, right) =>
    left.legKey < right.legKey ? -1 : 1,
  );
  return { ...lane, waiters };
}

const isHeld = (lane: Lane, legKey: string, now: Date) =>
  lane.legKey !== legKey && lane.until > now.toISOString();

/**
 * Lets one leg at a time be worked on for a real account, whoever linked it (table `accounts`). The others wait in line.
 * A leg that ends calls the first of them, so that a busy account is never idle.
 */
export class TurnStore {
  readonly #table: Table;

  constructor(table: Table) {
    this.#table = table;
  }

  /**
   * Takes the account for a leg, or adds the leg to the line. A leg that has the account already keeps it, since it was
   * interrupted. After `until` another leg may take it, in case the worker has crashed.
   * @throws AppError `service_unavailable` when others keep writing in between
   */
  async take(
    account: NetworkAccount,
    leg: LegOfAccount,
    { now, until }: { readonly now: Date; readonly until: string },
  ): Promise<Taking> {
    const { legKey } = leg;
    const partition = partitionOf(account);
    for (let attempt = 1; attempt <= TRIES_MAX; attempt += 1) {
      const inserted = await this.#table.insertIfAbsent(
        partition,
        toRow({ legKey, until, waiters: [] }),
      );
      if (inserted !== undefined) return { account, legKey, etag: inserted, isAwaited: false };
      const stored = await this.#table.find(partition, ROW_KEY);
      if (stored === undefined) continue;
      const lane = toLane(stored.row);
      if (isHeld(lane, legKey, now)) {
        const longer = withWaiter(lane, leg);
        if (longer === undefined) return "line_full";
        if (longer === lane || (await this.#write(partition, longer, stored.etag)) !== undefined)
          return "in_line";
      } else {
        const waiters = lane.waiters.filter((waiter) => waiter.legKey !== legKey);
        const etag = await this.#write(partition, { legKey, until, waiters }, stored.etag);
        if (etag !== undefined) return { account, legKey, etag, isAwaited: waiters.length > 0 };
      }
      await pause(attempt);
    }
    throw serviceUnavailable();
  }

  #write(partition: string, lane: Lane, etag: string): Promise<string | undefined> {
    return this.#table.mergeIfUnchanged(partition, toRow(lane), etag);
  }

  /** Keeps the account for longer, unless another leg has taken it over. */
  async extend({ account, legKey }: Turn, until: string): Promise<void> {
    await this.#table.update(partitionOf(account), ROW_KEY, (row) =>
      turnRow.decode(row).legKey === legKey ? turnRow.encodePart({ until }) : undefined,
    );
  }

  /**
   * Gives the account to the first leg in line and returns it, to be hinted. Without one, removes the account's row.
   * @throws AppError `service_unavailable` when others keep writing in between
   */
  async release(turn: Turn, now: Date): Promise<LegOfAccount | undefined> {
    const { account, legKey, etag, isAwaited } = turn;
    const partition = partitionOf(account);
    if (!isAwaited && (await this.#table.delete(partition, ROW_KEY, etag))) return undefined;
    for (let attempt = 1; attempt <= TRIES_MAX; attempt += 1) {
      const stored = await this.#table.find(partition, ROW_KEY);
      if (stored === undefined) return undefined;
      const lane = toLane(stored.row);
      if (lane.legKey !== legKey) return undefined;
      const [next, ...waiters] = lane.waiters;
      if (next === undefined) {
        if (await this.#table.delete(partition, ROW_KEY, stored.etag)) return undefined;
      } else {
        const until = new Date(now.getTime() + CALLED_MS).toISOString();
        const called = { legKey: next.legKey, until, waiters };
        if ((await this.#write(partition, called, stored.etag)) !== undefined) return next;
      }
      await pause(attempt);
    }
    throw serviceUnavailable();
  }
}

const pause = (attempt: number) =>
  new Promise((resolve) => setTimeout(resolve, Math.random() * 10 * attempt));
