import * as z from "zod";
import { actor } from "../callers/caller.ts";
import { count, idOf, time } from "../runtime/fields.ts";
import { NETWORK_NAMES } from "../networks/names.ts";
import { shape } from "../runtime/shape.ts";
import type { Balance } from "./wallet.ts";
import { type PricedAct, type WalletAct, RATE_CARD, type RateCard } from "./rate-card.ts";
import type { creditPlatform, SpendingLimits } from "./balance.ts";
import type { entryView, UsageTotal, UsageTotals } from "./usage.ts";

// Safe: these are all keys of the card.
const billable = Object.keys(RATE_CARD) as [PricedAct, ...PricedAct[]];
const operations: readonly [WalletAct, ...WalletAct[]] = [...billable, "billing.credit"];

const resetsAt = shape(() => time().describe("The next midnight UTC."));
const budget = shape(() =>
  count().nullable().describe("Maximum spending in a UTC day. Null means no limit."),
);
const usedToday = shape(() =>
  count().describe("The part of the budget that is used, including reserved tokens."),
);

export const balance = shape(
  () =>
    z
      .strictObject({
        tokenBalance: count().describe("Tokens that the platform owns."),
        tokenReserved: count().describe("Tokens reserved for legs that have not ended."),
        available: count().describe("The balance minus reserved tokens."),
        dailyTokenBudget: budget(),
        usedToday: usedToday(),
        resetsAt: resetsAt(),
      })
      .meta({ id: "Balance" }) satisfies z.ZodType<Balance>,
);

export const limits = shape(
  () =>
    z
      .strictObject({
        dailyTokenBudget: budget(),
        usedToday: usedToday(),
        resetsAt: resetsAt(),
        updatedAt: time().nullable().describe("When the budget was last set."),
      })
      .meta({ id: "BillingLimits" }) satisfies z.ZodType<SpendingLimits>,
);

export const ledgerEntry = shape(
  () =>
    z
      .strictObject({
        id: idOf("ledgerEntry"),
        type: z
          .enum(["credit", "debit", "reserve", "settle", "release"])
          .describe(
            "`credit`, `debit` and `settle` change the balance. `reserve` and `release` change the reserved amount, and `settle` lowers both.",
          ),
        operation: z.enum(operations),
        tokens: z.int().describe("Signed."),
        balanceAfter: count(),
        reservedAfter: count(),
        postId: idOf("post").nullable(),
        platform: z.enum(NETWORK_NAMES).nullable().describe("The network of the leg."),
        applicationId: idOf("application").nullable(),
        profileId: idOf("profile").nullable(),
        actor: actor(),
        requestId: z.string(),
        note: z.string().nullable(),
        createdAt: time(),
      })
      .meta({ id: "LedgerEntry" }) satisfies z.ZodType<ReturnType<typeof entryView>>,
);

const usageTotal = shape(
  () =>
    z
      .strictObject({
        key: z.string().nullable().describe("The day, or the id or name of the group."),
        tokens: z
          .int()
          .describe("How much the group's entries change the balance. Spending is negative."),
        entries: count(),
      })
      .meta({ id: "UsageTotal" }) satisfies z.ZodType<UsageTotal>,
);

export const usage = shape(() => z.union([ledgerEntry(), usageTotal()]));

/** Fields of the answer next to the totals. */
export const usageAbout = shape(() => ({
  range: z
    .strictObject({ from: time().nullable(), to: time().nullable() })
    .optional()
    .describe(
      "With `groupBy`, the range of whole UTC days that is added up, from `from` until before `to`. Null if the query has no range.",
    ) satisfies z.ZodType<UsageTotals["range"] | undefined>,
  asOf: time()
    .optional()
    .describe(
      "With `groupBy`, the time up to which entries are included. Later ones follow soon. Absent if all are included.",
    ),
}));

export const prices = shape(
  () =>
    z
      .strictObject({
        currency: z.literal("tokens"),
        version: z.string(),
        items: z.array(
          z.strictObject({
            operation: z.enum(billable),
            tokens: count(),
            unit: z.string(),
            description: z.string(),
          }),
        ),
      })
      .meta({ id: "RateCard" }) satisfies z.ZodType<RateCard>,
);

export const credited = shape(
  () =>
    z
      .strictObject({ entry: ledgerEntry(), tokenBalance: count() })
      .meta({ id: "Credited" }) satisfies z.ZodType<Awaited<ReturnType<typeof creditPlatform>>>,
);
