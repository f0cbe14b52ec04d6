import * as z from "zod";
import type { WalletAct } from "./rate-card.ts";
import { shape } from "../runtime/shape.ts";
import { integer, longJson, oneOf, rowCodec, text, textOrNull } from "../runtime/storage/codec.ts";

/**
 * How far a platform's ledger was found whole and added to the totals of its days, and what the last check of its wallet
 * found.
 */
export const reconciledRow = rowCodec("mark of the reconciliation", {
  sequence: integer(),
  balance: integer(),
  reserved: integer(),
  result: oneOf(["checked", "moving", "mismatch"]),
  resultAt: textOrNull(),
  /** When everything was last found right. */
  checkedAt: textOrNull(),
  /** When the platform was checked for the first time. */
  watchedSince: textOrNull(),
});

/**
 * What changed the balance on a UTC day, by application, profile and operation: what it was changed by, by how many
 * entries, and the number of the last of them.
 */
export type DayTotal = readonly [
  applicationId: string | null,
  profileId: string | null,
  operation: WalletAct,
  tokens: number,
  entries: number,
  last: number,
];

const totalsForm = shape(() => {
  const name = z.string().nullable();
  const total = z.tuple([name, name, z.string(), z.number(), z.number(), z.number()]);
  // Safe: an operation that this build does not know is shown as it is.
  return z.array(total) as unknown as z.ZodType<readonly DayTotal[]>;
});

/** A part of the totals of a day. One group may stand in several parts, which add up. */
export const totalsRow = rowCodec("totals of a day", {
  day: text(),
  totals: longJson(totalsForm),
});
