import * as z from "zod";
import { instantFilter, withOrderedRange } from "../runtime/fields.ts";
import { exampleId, isId } from "../runtime/ids.ts";
import { pageQuery } from "../runtime/page.ts";
import { shape, type ShapeOf } from "../runtime/shape.ts";
import { RATE_CARD } from "./rate-card.ts";

const TOKENS_MAX = 10_000_000;
const NOTE_MAX = 500;
const REFERENCE_MAX = 128;

export const CreditBody = shape(() =>
  z.strictObject({
    platformId: z
      .string()
      .refine((value) => isId("platform", value), { error: "must be a platform id (plt_…)" }),
    tokens: z.number().int().min(1).max(TOKENS_MAX),
    note: z.string().max(NOTE_MAX).optional(),
    reference: z
      .string()
      .min(1)
      .max(REFERENCE_MAX)
      .optional()
      .describe("Your own reference. The same reference credits only once."),
  }),
);
export type Credit = ShapeOf<typeof CreditBody>;

const operations = [...Object.keys(RATE_CARD), "billing.credit"];

const idFilter = (kind: "application" | "profile" | "post") =>
  z
    .string()
    .max(64)
    .optional()
    .meta({ examples: [exampleId(kind)] });

const usageFilter = shape(() => ({
  from: instantFilter().optional().describe("Only entries written at this time or later."),
  to: instantFilter().optional().describe("Only entries written before this time."),
  operation: z.enum(operations).optional(),
  applicationId: idFilter("application"),
  profileId: idFilter("profile"),
  postId: idFilter("post"),
}));

export const UsageQuery = shape(() =>
  z.strictObject({
    ...pageQuery(),
    ...usageFilter(),
    groupBy: z
      .enum(["day", "application", "profile", "operation"])
      .optional()
      .describe("Totals instead of entries."),
  }),
);
/** The range is required, because a file has no pages. */
export const ExportUsageQuery = shape(() => {
  const { from, to, ...filter } = usageFilter();
  return withOrderedRange(
    z.strictObject({
      from: instantFilter().describe(`${from.description} At most 31 days before \`to\`.`),
      to: instantFilter()
        .describe(`${to.description} Must be later than \`from\`.`)
        .meta({ examples: ["2026-03-31T00:00:00Z"] }),
      ...filter,
    }),
  );
});
export type ExportUsage = ShapeOf<typeof ExportUsageQuery>;

export type ListUsage = ShapeOf<typeof UsageQuery>;
export type GroupBy = NonNullable<ListUsage["groupBy"]>;

const BUDGET_MAX = 1_000_000_000;

export const LimitsBody = shape(() =>
  z.strictObject({
    dailyTokenBudget: z
      .number()
      .int()
      .min(0)
      .max(BUDGET_MAX)
      .nullable()
      .describe("Maximum spending in a UTC day. Null removes the limit."),
  }),
);
