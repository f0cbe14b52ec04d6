import type { NetworkName } from "../networks/lookup.ts";
import { NETWORK_NAMES } from "../networks/names.ts";
import { oneOf, rowCodec, text } from "../runtime/storage/codec.ts";
import type { Table } from "../runtime/storage/table.ts";

const ROW_KEY = "W";
const PREFIX = "withdrawal|";
const DAY_MS = 24 * 60 * 60 * 1000;
/** Less than the 90 days for which a withdrawal can be looked up: the purge leaves rows alone for a day after their end. */
const KEPT_MS = 89 * DAY_MS;
const PAGE_ROWS = 100;

/** A notice that a person took an authorisation back; its key is in the partition. */
export const withdrawalRow = rowCodec("withdrawal", {
  network: oneOf(NETWORK_NAMES),
  /** Whose connections end; "" once they have. */
  grantId: text(),
  isOpen: oneOf(["no", "yes"]),
  expiresAt: text(),
});

/** A notice, and whether connections may be left that it ends. */
export interface Withdrawal {
  readonly network: NetworkName;
  readonly grantId: string;
  readonly isOpen: boolean;
}

type Held = Omit<Withdrawal, "isOpen">;

/** Stores notices of withdrawals in table `oauthstates`, whose purge removes them 90 days after they came. */
export class WithdrawalStore {
  readonly #table: Table;

  constructor(table: Table) {
    this.#table = table;
  }

  /** Stores an open withdrawal, unless the notice came before. */
  async open(key: string, of: Held, now: Date): Promise<void> {
    const expiresAt = new Date(now.getTime() + KEPT_MS).toISOString();
    const columns = withdrawalRow.encode({ ...of, isOpen: "yes", expiresAt });
    await this.#table.insertIfAbsent(PREFIX + key, { rowKey: ROW_KEY, ...columns });
  }

  /** Returns a withdrawal, if it is stored. @throws DamagedRow */
  async find(key: string): Promise<Withdrawal | undefined> {
    const stored = await this.#table.find(PREFIX + key, ROW_KEY);
    if (stored === undefined) return undefined;
    const { network, grantId, isOpen } = withdrawalRow.decode(stored.row);
    return { network, grantId, isOpen: isOpen === "yes" };
  }

  /** Notes that no connection is left, and forgets whose they were. */
  async close(key: string): Promise<void> {
    await this.#table.update(PREFIX + key, ROW_KEY, () =>
      withdrawalRow.encodePart({ isOpen: "no", grantId: "" }),
    );
  }

  /** Lists the keys of a page of the open ones, in no order. Reads the whole table, which has few rows. */
  async openKeys(
    after: string | undefined,
  ): Promise<{ readonly keys: readonly string[]; readonly next: string | undefined }> {
    const selection = { property: "isOpen", values: ["yes"], pageRows: PAGE_ROWS };
    const { rows, next } = await this.#table.select(selection, after);
    const keys = rows.map(({ partitionKey }) => partitionKey.slice(PREFIX.length));
    return { keys, next };
  }
}
