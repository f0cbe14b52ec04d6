import * as z from "zod";
import type { Actor } from "../callers/caller.ts";
import type { NetworkName } from "../networks/lookup.ts";
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
} from "../runtime/storage/codec.ts";
import type { WriterLease } from "./operation.ts";
import type { Operation } from "./rate-card.ts";
import { inverted } from "../runtime/ids.ts";
import { sha256Hex } from "../runtime/secrets.ts";
import { shape } from "../runtime/shape.ts";
import type { Row } from "../runtime/storage/row.ts";
import type { LedgerEntry } from "./wallet.ts";

const writerForm = shape((): z.ZodType<WriterLease> =>
  z.looseObject({ by: z.string(), forMs: z.number() }),
);

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
  // "" until it is first raised. An empty version matches nothing.
  accessVersion: text(),
  writer: jsonOrNull(writerForm),
});

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

export const MARKER_ROWS = "O|";

/** Returns the key of an operation's marker. It is hashed, because callers choose references freely. */
export function markerKey(operationId: string): string {
  return MARKER_ROWS + sha256Hex(operationId);
}

const MARKER_COLUMNS = {
  operation: text<Operation | "billing.budget_reached" | "platform.erasure_announced">(),
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
