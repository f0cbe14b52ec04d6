import * as z from "zod";
import { NETWORK_NAMES, type NetworkData, type NetworkName } from "../networks/network.ts";
import { publicUrl } from "../networks/options.ts";
import { platformOptionsSchema } from "../networks/registry.ts";
import { pageQuery } from "../page.ts";
import type { Draft } from "./post.ts";

const TEXT_UTF16_MAX = 63_206;
const MEDIA_MAX = 20;
const ALT_TEXT_MAX = 1_500;
const EXTERNAL_ID_MAX = 255;
const METADATA_KEYS_MAX = 50;

const metadata = z
  .record(z.string().min(1).max(64), z.string().max(500))
  .refine((value) => Object.keys(value).length <= METADATA_KEYS_MAX, {
    error: `must not have more than ${METADATA_KEYS_MAX} keys`,
  });

const instant = z.iso
  .datetime({
    offset: true,
    error: "must be a time with Z or an offset, e.g. 2030-01-31T09:00:00Z",
  })
  .transform((value) => new Date(value).toISOString());

const networkNames = z
  .array(z.enum(NETWORK_NAMES))
  .min(1)
  .max(NETWORK_NAMES.length)
  .refine((names) => new Set(names).size === names.length, { error: "must not repeat a network" });

const PostBody = z.strictObject({
  text: z.string().max(TEXT_UTF16_MAX).default(""),
  platforms: networkNames,
  mediaUrls: z.array(publicUrl).max(MEDIA_MAX).default([]),
  altTexts: z.array(z.string().max(ALT_TEXT_MAX).nullable()).max(MEDIA_MAX).default([]),
  scheduleAt: instant.nullable().default(null),
  platformOptions: platformOptionsSchema.default({}),
  externalId: z.string().max(EXTERNAL_ID_MAX).nullable().default(null),
  metadata: metadata.default({}),
});

type Fields = z.output<typeof PostBody>;

function addCrossFieldIssues(fields: Fields, context: z.core.$RefinementCtx<Fields>): void {
  if (fields.altTexts.length > 0 && fields.altTexts.length !== fields.mediaUrls.length)
    context.addIssue({
      code: "custom",
      path: ["altTexts"],
      message: "must be as long as mediaUrls",
    });
  for (const name of Object.keys(fields.platformOptions))
    if (!fields.platforms.some((network) => network === name))
      context.addIssue({
        code: "custom",
        path: ["platformOptions", name],
        message: "is not one of the post's platforms",
      });
}

function toDraft(fields: Fields): Draft {
  const { platforms, externalId, platformOptions, ...rest } = fields;
  return {
    ...rest,
    networks: platforms,
    externalId: externalId === "" ? null : externalId,
    // Safe: the schema has a key of its own for every network and refuses others.
    platformOptions: platformOptions as Partial<Record<NetworkName, NetworkData>>,
  };
}

/** What may be published: POST /v1/posts and /v1/posts/validate. */
export const DraftBody = PostBody.superRefine(addCrossFieldIssues).transform(toDraft);

export const RetryBody = z.strictObject({ platforms: networkNames.optional() });

export const ValidateQuery = z.strictObject({
  media: z
    .enum(["true", "false"])
    .default("false")
    .transform((value) => value === "true"),
});

export const ListPostsQuery = z.strictObject({
  ...pageQuery,
  status: z
    .enum(["scheduled", "processing", "succeeded", "partial", "failed", "canceled"])
    .optional(),
  platform: z.enum(NETWORK_NAMES).optional(),
  externalId: z.string().max(EXTERNAL_ID_MAX).optional(),
  from: instant.optional(),
  to: instant.optional(),
});
export type ListPosts = z.output<typeof ListPostsQuery>;
