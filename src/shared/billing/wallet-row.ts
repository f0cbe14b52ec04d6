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

/** The point up to which the ledger was found whole. */
export const reconciledRow = rowCodec("mark of the reconciliation", {
  sequence: integer(),
  balance: integer(),
  reserved: integer(),
});
