import * as z from "zod";
import { externalId, instant, metadata } from "../../runtime/fields.ts";
import type { NetworkData } from "../../networks/contract/draft.ts";
import { platformOptionsSchema, type NetworkName } from "../../networks/lookup.ts";
import { NETWORK_NAMES } from "../../networks/names.ts";
import { publicUrl } from "../../networks/options.ts";
import { shape, type ShapeOf } from "../../runtime/shape.ts";
import { crossFieldIssues } from "../draft-issues.ts";
import type { Draft } from "../post.ts";

const TEXT_UTF16_MAX = 63_206;
const MEDIA_MAX = 20;
const ALT_TEXT_MAX = 1_500;

const networkNames = shape(() =>
  z
    .array(z.enum(NETWORK_NAMES))
    .min(1)
    .max(NETWORK_NAMES.length)
    .refine((names) => new Set(names).size === names.length, {
      error: "must not repeat a network",
      // Reported together with an entry that is no network.
      when: ({ value }) => Array.isArray(value),
    })
    .meta({ description: "The networks, one leg each.", uniqueItems: true }),
);

const text = shape(() => z.string().max(TEXT_UTF16_MAX));
const mediaUrls = shape(() => z.array(publicUrl()).max(MEDIA_MAX));
const altTexts = shape(() => z.array(z.string().max(ALT_TEXT_MAX).nullable()).max(MEDIA_MAX));
const ABOUT = {
  text: "May be empty when there is media. Each network's own limit is checked, see `validate`.",
  mediaUrls: "Public https addresses, without credentials, which are fetched when publishing.",
  altTexts: "As long as `mediaUrls`, null where there is none.",
  scheduleAt: "More than 10 seconds and at most 365 days ahead; null or absent: now.",
  platformOptions:
    "By network, of those in `platforms`: its own text or media, and what only it has.",
};

const platformOptions = shape(() => platformOptionsSchema().meta({ id: "PlatformOptions" }));

const PostBody = shape(() =>
  z.strictObject({
    text: text().default("").describe(ABOUT.text),
    platforms: networkNames(),
    mediaUrls: mediaUrls().default([]).describe(ABOUT.mediaUrls),
    altTexts: altTexts().default([]).describe(ABOUT.altTexts),
    scheduleAt: instant().nullable().default(null).describe(ABOUT.scheduleAt),
    platformOptions: platformOptions().default({}).describe(ABOUT.platformOptions),
    externalId: externalId().default(null),
    metadata: metadata().default({}),
  }),
);
type Fields = ShapeOf<typeof PostBody>;

/** PATCH of a scheduled post: what is not named stays. */
export const UpdatePostBody = shape(() =>
  z.strictObject({
    text: text().optional().describe(ABOUT.text),
    platforms: networkNames().optional(),
    mediaUrls: mediaUrls().optional().describe(ABOUT.mediaUrls),
    altTexts: altTexts().optional().describe(ABOUT.altTexts),
    scheduleAt: instant().optional().describe("More than 10 seconds and at most 365 days ahead."),
    platformOptions: platformOptions().optional().describe(ABOUT.platformOptions),
    externalId: externalId().optional(),
    metadata: metadata().optional(),
  }),
);
export type UpdatePost = ShapeOf<typeof UpdatePostBody>;

function toDraft(fields: Fields): Draft {
  const { platforms, platformOptions, ...rest } = fields;
  return {
    ...rest,
    networks: platforms,
    // Safe: the schema has a key of its own for every network and refuses others.
    platformOptions: platformOptions as Partial<Record<NetworkName, NetworkData>>,
  };
}

/** What may be published: POST /v1/posts and /v1/posts/validate. */
export const DraftBody = shape(() =>
  PostBody()
    .superRefine((fields, context) => {
      for (const { path, message } of crossFieldIssues(fields))
        context.addIssue({ code: "custom", path: path.split("."), message });
    })
    .transform(toDraft)
    .meta({ id: "PostRequest" }),
);

/** The draft with a change applied that was found to fit it. */
export function updatedDraft(draft: Draft, change: UpdatePost): Draft {
  const { networks, ...rest } = draft;
  const defined = Object.fromEntries(
    Object.entries(change).filter(([, value]) => value !== undefined),
  );
  // Safe: a draft came from these fields, and the change has the same types.
  const fields = { ...rest, platforms: networks, ...defined } as Fields;
  return toDraft(fields);
}

export const RetryBody = shape(() =>
  z.strictObject({
    platforms: networkNames().optional().describe("All networks whose legs failed when absent."),
  }),
);

export const ValidateQuery = shape(() =>
  z.strictObject({
    media: z
      .enum(["true", "false"])
      .default("false")
      .transform((value) => value === "true")
      .describe("Whether every media URL is fetched and looked at, for 1 token each."),
  }),
);
