import type { Actor } from "../callers/caller.ts";
import type { NetworkName } from "../networks/networks.ts";
import {
  integer,
  integerOrNull,
  jsonOrNull,
  namesForm,
  oneOf,
  type Reader,
  rowCodec,
  text,
  textOrNull,
  truth,
} from "../runtime/storage/codec.ts";
import type { WalletAct } from "./rate-card.ts";
import { HEAD_KEY, type PartitionView } from "../partition/partition.ts";
import { inverted, newId } from "../runtime/ids.ts";
import { sha256Hex } from "../runtime/secrets.ts";
import type { Row, RowWrite, StoredRow } from "../runtime/storage/row.ts";
import {
  applyWalletChange,
  EMPTY_WALLET,
  type LedgerEntry,
  type Wallet,
  type WalletChange,
} from "./wallet.ts";

/** Key of a wallet. The row is read and cached with the head of its partition, since most operations need both. */
export const WALLET_KEY = `${HEAD_KEY}W`;

export const walletRow = rowCodec("wallet", {
  balance: integer(),
  reserved: integer(),
  sequence: integer(),
  dailyBudget: integerOrNull(),
  budgetChangedAt: textOrNull(),
  day: text(),
  daySpent: integer(),
  paceUntil: textOrNull(),
  lowAt: textOrNull(),
  isCredited: truth(),
});

export const ledgerRow = rowCodec("ledger entry", {
  id: text(),
  type: oneOf(["credit", "debit", "reserve", "settle", "release"]),
  operation: text<WalletAct>(),
  tokens: integer(),
  sequence: integer(),
  balanceAfter: integer(),
  reservedAfter: integer(),
  postId: textOrNull(),
  network: textOrNull<NetworkName>(),
  applicationId: textOrNull(),
  profileId: textOrNull(),
  actorKind: text<Actor["kind"]>(),
  actorId: text(),
  requestId: text(),
  note: textOrNull(),
  createdAt: text(),
  legs: jsonOrNull(namesForm<NetworkName>()),
});

export interface StoredEntry extends LedgerEntry {
  readonly id: string;
}

export const ENTRY_ROWS = "L|";

/** Returns the key of an entry. The newest sort first. */
export function entryKey(sequence: number): string {
  return ENTRY_ROWS + inverted(sequence);
}

export function toEntry(row: Row, reader?: Reader): StoredEntry {
  const { actorKind: kind, actorId: id, ...entry } = ledgerRow.decode(row, reader);
  return { ...entry, actor: { kind, id } };
}

/** Decodes a wallet, which is empty for a platform that never had tokens. @throws DamagedRow */
export function toWallet(stored: StoredRow | undefined): Wallet {
  return stored === undefined ? EMPTY_WALLET : walletRow.decode(stored.row);
}

/** Returns the wallet that an operation sees. @throws DamagedRow */
export function walletOf({ row }: Pick<PartitionView, "row">): Wallet {
  return toWallet(row(WALLET_KEY));
}

/**
 * Returns the writes of a change of the wallet: its row and the new ledger entries. They belong into the transaction of
 * what the tokens are for. A change of nothing has none, and doesn't need the wallet.
 * @throws DamagedRow
 * @throws Error as `applyWalletChange` does
 */
export function walletWrites(
  { row, now }: Pick<PartitionView, "row" | "now">,
  change: WalletChange,
): RowWrite[] {
  const { movements = [], dailyBudget, paceUntil } = change;
  const moves = movements.some(({ tokens }) => tokens !== 0);
  if (!moves && dailyBudget === undefined && paceUntil === undefined) return [];
  const stored = row(WALLET_KEY);
  const { wallet, entries } = applyWalletChange(toWallet(stored), change, now);
  const changed = { ...walletRow.encode(wallet), rowKey: WALLET_KEY };
  return [
    stored === undefined
      ? { kind: "create", row: changed }
      : { kind: "merge", row: changed, etag: stored.etag },
    ...entries.map(({ actor, ...entry }): RowWrite => {
      const id = newId("ledgerEntry", new Date(entry.createdAt));
      const columns = ledgerRow.encode({ ...entry, id, actorKind: actor.kind, actorId: actor.id });
      return { kind: "create", row: { ...columns, rowKey: entryKey(entry.sequence) } };
    }),
  ];
}

export const MARKER_ROWS = "O|";

/** Returns the key of an operation's marker. It is hashed, because callers choose references freely. */
export function markerKey(operationId: string): string {
  return MARKER_ROWS + sha256Hex(operationId);
}

const MARKER_COLUMNS = {
  operation: text<WalletAct | "billing.budget_reached" | "platform.erasure_announced">(),
  tokens: integer(),
  createdAt: text(),
};

/** The marker of an operation that is applied only once. */
export const markerRow = rowCodec("marker", MARKER_COLUMNS);

/** The marker of a credit, with the number of its ledger entry. */
export const creditMarkerRow = rowCodec("marker of a credit", {
  ...MARKER_COLUMNS,
  sequence: integer(),
});
