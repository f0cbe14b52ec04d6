import type { Actor } from "../callers/caller.ts";
import type { NetworkName } from "../networks/lookup.ts";
import {
  integer,
  integerOrNull,
  oneOf,
  rowCodec,
  text,
  textOrNull,
} from "../runtime/storage/codec.ts";
import type { Operation } from "./rate-card.ts";
import { sha256Hex } from "../runtime/secrets.ts";

/** The wallet of a platform. */
export const walletRow = rowCodec("wallet", {
  balance: integer(),
  reserved: integer(),
  sequence: integer(),
  dailyBudget: integerOrNull(),
  budgetChangedAt: textOrNull(),
  day: text(),
  daySpent: integer(),
  paceUntil: textOrNull(),
});

/** An entry of its ledger. */
export const ledgerRow = rowCodec("ledger entry", {
  id: text(),
  type: oneOf(["credit", "debit", "reserve", "settle", "release"]),
  operation: text<Operation>(),
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
});

/** The point up to which the ledger was found complete. */
export const reconciledRow = rowCodec("mark of the reconciliation", {
  sequence: integer(),
  balance: integer(),
  reserved: integer(),
});

export const MARKER_ROWS = "O|";

/** Returns the key of an operation's marker. It is hashed: callers choose references freely. */
export function markerKey(operationId: string): string {
  return MARKER_ROWS + sha256Hex(operationId);
}

const MARKER_COLUMNS = {
  operation: text<Operation | "billing.budget_reached">(),
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
