import type { NetworkName } from "../networks/networks.ts";
import { NETWORK_NAMES } from "../networks/names.ts";
import { oneOf, rowCodec, text } from "../runtime/storage/codec.ts";
import type { Table } from "../runtime/storage/table.ts";

const ROW_KEY = "W";
const PREFIX = "withdrawal|";
const DAY_MS = 24 * 60 * 60 * 1000;
/** Withdrawals can be looked up for 90 days. One day less, because the purge keeps rows for a day after their end. */
const KEPT_MS = 89 * DAY_MS;
const PAGE_ROWS = 100;

/** A notice that a person has withdrawn an authorization. The partition is its key. */
export const withdrawalRow = rowCodec("withdrawal", {
  network: oneOf(NETWORK_NAMES),
  /** The authorization whose connections end, or "" once they have. */
  grantId: text(),
  isOpen: oneOf(["no", "yes"]),
  expiresAt: text(),
});

/** A notice, and whether connections may be left that it has to end. */
export interface Withdrawal {
  readonly network: NetworkName;
  readonly grantId: string;
  readonly isOpen: boolean;
}

type StoredWithdrawal = Omit<Withdrawal, "isOpen">;

/** Stores notices of withdrawals in the table `oauthstates`, whose purge removes them after 90 days. */
export class WithdrawalStore {
  readonly #table: Table;

  constructor(table: Table) {
    this.#table = table;
  }

  /** Stores an open withdrawal, unless the notice came before. */
  async open(key: string, of: StoredWithdrawal, now: Date): Promise<void> {
    const expiresAt = new Date(now.getTime() + KEPT_MS).toISOString();
    const columns = withdrawalRow.encode({ ...of, isOpen: "yes", expiresAt });
    await this.#table.insertIfAbsent(PREFIX + key, { rowKey: ROW_KEY, ...columns });
  }

  /** Finds a stored withdrawal. @throws DamagedRow */
  async find(key: string): Promise<Withdrawal | undefined> {
    const stored = await this.#table.find(PREFIX + key, ROW_KEY);
    if (stored === undefined) return undefined;
    const { network, grantId, isOpen } = withdrawalRow.decode(stored.row);
    return { network, grantId, isOpen: isOpen === "yes" };
  }

  /** Marks that no connection is left, and forgets which authorization it was. */
  async close(key: string): Promise<void> {
    await this.#table.update(PREFIX + key, ROW_KEY, () =>
      withdrawalRow.encodePart({ isOpen: "no", grantId: "" }),
    );
  }

  /** Lists the keys of a page of open withdrawals, in no order. Reads the whole table, which has few rows. */
  async openKeys(
    after: string | undefined,
  ): Promise<{ readonly keys: readonly string[]; readonly next: string | undefined }> {
    const selection = { property: "isOpen", values: ["yes"], pageRows: PAGE_ROWS };
    const { rows, next } = await this.#table.select(selection, after);
    const keys = rows.map(({ partitionKey }) => partitionKey.slice(PREFIX.length));
    return { keys, next };
  }
}
