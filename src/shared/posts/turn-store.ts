import { sha256Hex } from "../secrets.ts";
import { numberOf, textOf, type Row } from "../storage/row.ts";
import type { Table } from "../storage/table.ts";
import type { NetworkAccount } from "./account-store.ts";

const ROW_KEY = "B";
/** How long a leg is taken to need while nothing is known. */
const EXPECTED_MS = 1_000;
const EXPECTED_MS_MAX = 30_000;
const EXPECTED_MS_MIN = 100;
/** Nobody is sent away for longer: what stands before him may have ended early. */
const WAIT_MS_MAX = 60_000;

/** The right to be the one leg that an account has in hand. */
export interface Turn {
  readonly account: NetworkAccount;
  readonly legKey: string;
  readonly takenAt: Date;
  readonly etag: string;
}

/** Somebody else has it: when to come back. */
export interface Busy {
  readonly waitMs: number;
}

interface Lane {
  readonly legKey: string;
  readonly until: string;
  /** When the next one that had to wait may come. */
  readonly turnAt: string;
  readonly expectedMs: number;
}

const partitionOf = ({ network, accountId }: NetworkAccount) =>
  `${network}|${sha256Hex(accountId)}`;

function toRow({ legKey, until, turnAt, expectedMs }: Lane): Row {
  return { rowKey: ROW_KEY, legKey, until, turnAt, expectedMs };
}

function toLane(row: Row): Lane {
  return {
    legKey: textOf(row, "legKey"),
    until: textOf(row, "until"),
    turnAt: textOf(row, "turnAt"),
    expectedMs: numberOf(row, "expectedMs"),
  };
}

/**
 * Which leg a real account has in hand (table `accounts`): one at a time, whoever linked it. Those that come meanwhile
 * are told when to come back, one after the other, so that they do not meet again.
 */
export class TurnStore {
  readonly #table: Table;

  constructor(table: Table) {
    this.#table = table;
  }

  /** A leg that has it already keeps it: it was interrupted. `until` ends what a dead worker holds. */
  async take(
    account: NetworkAccount,
    legKey: string,
    { now, until }: { readonly now: Date; readonly until: string },
  ): Promise<Turn | Busy> {
    const partition = partitionOf(account);
    const taken = (etag: string): Turn => ({ account, legKey, takenAt: now, etag });
    const first = toRow({ legKey, until, turnAt: "", expectedMs: EXPECTED_MS });
    const inserted = await this.#table.insertIfAbsent(partition, first);
    if (inserted !== undefined) return taken(inserted);
    const stored = await this.#table.find(partition, ROW_KEY);
    if (stored === undefined) return { waitMs: EXPECTED_MS };
    const lane = toLane(stored.row);
    const at = now.toISOString();
    if (lane.legKey !== legKey && lane.until > at)
      return this.#queue(partition, lane, stored.etag, now);
    const row = toRow({ ...lane, legKey, until });
    const replaced = await this.#table.replaceIfUnchanged(partition, row, stored.etag);
    return replaced === undefined ? { waitMs: lane.expectedMs } : taken(replaced);
  }

  async #queue(partition: string, lane: Lane, etag: string, now: Date): Promise<Busy> {
    const before = Math.max(now.getTime(), Date.parse(lane.turnAt) || 0);
    const turnMs = Math.min(before + lane.expectedMs, now.getTime() + WAIT_MS_MAX);
    const turnAt = new Date(turnMs).toISOString();
    // Lost to another one that queues: then two come at once, and one of them is told again.
    await this.#table.mergeIfUnchanged(partition, { rowKey: ROW_KEY, turnAt }, etag);
    return { waitMs: turnMs - now.getTime() };
  }

  /** Keeps it for longer; where somebody took it over, nothing happens. */
  async extend({ account, legKey }: Turn, until: string): Promise<void> {
    await this.#table.update(partitionOf(account), ROW_KEY, (row) =>
      textOf(row, "legKey") === legKey ? { until } : undefined,
    );
  }

  /** Gives it to the next one. An account that nobody waits for leaves no row. */
  async release({ account, legKey, takenAt, etag }: Turn, now: Date): Promise<void> {
    const partition = partitionOf(account);
    if (await this.#table.delete(partition, ROW_KEY, etag)) return;
    const tookMs = now.getTime() - takenAt.getTime();
    await this.#table.update(partition, ROW_KEY, (row) => {
      const lane = toLane(row);
      if (lane.legKey !== legKey) return undefined;
      const expectedMs = Math.ceil((lane.expectedMs + tookMs) / 2);
      return {
        until: "",
        expectedMs: Math.min(EXPECTED_MS_MAX, Math.max(EXPECTED_MS_MIN, expectedMs)),
      };
    });
  }
}
