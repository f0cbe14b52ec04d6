import * as z from "zod";
import { instant } from "../fields.ts";
import { isId } from "../ids.ts";
import { pageQuery } from "../page.ts";
import { RATE_CARD } from "./rate-card.ts";

const TOKENS_MAX = 10_000_000;
const NOTE_MAX = 500;
const REFERENCE_MAX = 128;

export const CreditBody = z.strictObject({
  platformId: z
    .string()
    .refine((value) => isId("platform", value), { error: "must be a platform id (plt_…)" }),
  tokens: z.number().int().min(1).max(TOKENS_MAX),
  note: z.string().max(NOTE_MAX).optional(),
  reference: z.string().min(1).max(REFERENCE_MAX).optional(),
});
export type Credit = z.output<typeof CreditBody>;

const operations = [...Object.keys(RATE_CARD), "billing.credit"];

export const UsageQuery = z.strictObject({
  ...pageQuery,
  from: instant.optional(),
  to: instant.optional(),
  operation: z.enum(operations).optional(),
  applicationId: z.string().max(64).optional(),
  profileId: z.string().max(64).optional(),
  postId: z.string().max(64).optional(),
});
export type ListUsage = z.output<typeof UsageQuery>;
