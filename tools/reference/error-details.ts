import * as z from "zod";
import { readinessChecks } from "../../src/shared/http/check-readiness.ts";
import type { ErrorCode } from "../../src/shared/runtime/errors.ts";
import { count, idOf, time } from "../../src/shared/runtime/fields.ts";
import { rejection } from "../../src/shared/files/answer-schema.ts";
import { networkName } from "../../src/shared/networks/answer-schema.ts";
import { networkValidations } from "../../src/shared/publishing/answer-schema.ts";
import { shape } from "../../src/shared/runtime/shape.ts";

const nothing = shape(() => z.strictObject({}));

const issues = shape(() =>
  z.strictObject({
    issues: z.array(
      z.strictObject({
        path: z
          .string()
          .describe("Path of the field, separated by dots, or the parameter or header."),
        code: z.string(),
        message: z.string(),
      }),
    ),
  }),
);

/** The contents of `details` of the errors that have some. */
const DETAILS: Readonly<Partial<Record<ErrorCode, () => z.ZodType>>> = {
  validation_failed: issues,
  profile_header_mismatch: shape(() => z.strictObject({ header: z.string(), path: z.string() })),
  insufficient_tokens: shape(() => z.strictObject({ required: count(), available: count() })),
  daily_budget_reached: shape(() =>
    z.strictObject({ budget: count(), used: count(), required: count(), resetsAt: time() }),
  ),
  confirmation_required: shape(() => z.strictObject({ maxAgeSeconds: count() })),
  method_not_allowed: shape(() => z.strictObject({ allow: z.array(z.string()) })),
  conflict: shape(() => z.strictObject({ existingId: z.string().optional() })),
  duplicate_content: shape(() =>
    z.strictObject({
      postId: idOf("post").nullable().describe("Null when the post belongs to another profile."),
      platforms: z.array(networkName()),
      allowedAfter: time().nullable(),
    }),
  ),
  invalid_state: shape(() =>
    z.strictObject({
      status: z.string().optional(),
      remove: z.string().optional().describe("For a published post: the path that removes it."),
    }),
  ),
  media_rejected: rejection,
  nothing_to_remove: shape(() =>
    z.strictObject({
      platforms: z.array(networkName()).describe("Where there is nothing to remove."),
    }),
  ),
  removal_unsupported: shape(() =>
    z.strictObject({
      posts: z
        .array(z.strictObject({ platform: networkName(), url: z.string().nullable() }))
        .describe("Where to remove them by hand."),
    }),
  ),
  payload_too_large: shape(() => z.strictObject({ bytesMax: count() })),
  unsupported_media_type: shape(() =>
    z.strictObject({
      acceptEncoding: z
        .literal("identity")
        .optional()
        .describe("Present when the body is compressed, together with the header Accept-Encoding."),
    }),
  ),
  not_publishable: shape(() => z.strictObject({ platforms: networkValidations() })),
  rate_limited: shape(() => z.strictObject({ retryAfter: count() })),
  not_ready: shape(() => z.strictObject({ checks: readinessChecks() })),
};

/** Returns the schema of an error's `details`: `{}` when there is nothing to add. */
export const detailsOfError = (code: ErrorCode): z.ZodType => (DETAILS[code] ?? nothing)();
