import * as z from "zod";
import { namedFile } from "../../files/files.ts";
import { isId } from "../../runtime/ids.ts";
import { clearable, externalId, instant, metadata } from "../../runtime/fields.ts";
import type { NetworkData } from "../../networks/contract/draft.ts";
import { platformOptionsSchema, type NetworkName } from "../../networks/networks.ts";
import { NETWORK_NAMES } from "../../networks/names.ts";
import {
  ALT_TEXT_CHARACTERS_MAX,
  ALT_TEXTS_FIT,
  fileUrl,
  NO_FILE_URL,
} from "../../networks/options.ts";
import type { Issue } from "../../runtime/errors.ts";
import { shape, type ShapeOf } from "../../runtime/shape.ts";
import type { Draft } from "../post.ts";

const TEXT_UTF16_MAX = 63_206;
const MEDIA_MAX = 20;
const AHEAD_MS_MIN = 10_000;
const AHEAD_MS_MAX = 365 * 24 * 60 * 60 * 1000;

const networkNames = shape(() =>
  z
    .array(z.enum(NETWORK_NAMES))
    .min(1)
    .max(NETWORK_NAMES.length)
    .refine((names) => new Set(names).size === names.length, {
      error: "must not repeat a network: name each once",
      // So that it is reported together with an entry that is no network.
      when: ({ value }) => Array.isArray(value),
    })
    .meta({ description: "The networks to publish to. Each gets one leg.", uniqueItems: true }),
);

const text = shape(() => z.string().max(TEXT_UTF16_MAX));
const mediaUrls = shape(() => z.array(fileUrl()).max(MEDIA_MAX));
const altTexts = shape(() =>
  z.array(z.string().max(ALT_TEXT_CHARACTERS_MAX).nullable()).max(MEDIA_MAX),
);
const ABOUT = {
  text: "May be empty if there is media. Each network's own limit applies: see `GET /v1/networks`.",
  mediaUrls:
    "Public https URLs without credentials, which are fetched when the post is published, or the `url` of uploaded files (`POST /v1/media`).",
  altTexts:
    "One item for each item of `mediaUrls`; null for a file without one. Texts that are too long for a network are shortened, with the warning `alt_text_shortened`.",
  scheduleAt: "More than 10 seconds and at most 365 days in the future. Null or absent means now.",
  platformOptions:
    "For each network in `platforms`: its own text or media, and options that only it has.",
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
type PostFields = ShapeOf<typeof PostBody>;

/** PATCH of a scheduled post. Absent fields stay, and null clears what a new post may leave out. */
export const UpdatePostBody = shape(() =>
  z.strictObject({
    text: clearable(text(), "").describe(ABOUT.text),
    platforms: networkNames().optional(),
    mediaUrls: clearable(mediaUrls(), []).describe(ABOUT.mediaUrls),
    altTexts: clearable(altTexts(), []).describe(ABOUT.altTexts),
    scheduleAt: instant()
      .optional()
      .describe("More than 10 seconds and at most 365 days in the future."),
    platformOptions: clearable(platformOptions(), {}).describe(ABOUT.platformOptions),
    externalId: externalId().optional(),
    metadata: clearable(metadata(), {}),
    expectedUpdatedAt: instant()
      .optional()
      .describe(
        "The `updatedAt` that you read. If the post has changed since, this request changes nothing.",
      ),
  }),
);
export type UpdatePost = ShapeOf<typeof UpdatePostBody>;
/** The fields that a change sets, without its condition. */
type DraftChange = Omit<UpdatePost, "expectedUpdatedAt">;

function toDraft(fields: PostFields): Draft {
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

/** Returns the issues of a time that is not between 10 seconds and 365 days ahead. */
export function scheduleIssues(scheduleAt: string | null, now: Date): readonly Issue[] {
  if (scheduleAt === null) return [];
  const aheadMs = Date.parse(scheduleAt) - now.getTime();
  if (aheadMs > AHEAD_MS_MIN && aheadMs <= AHEAD_MS_MAX) return [];
  const message =
    aheadMs > AHEAD_MS_MAX
      ? "must be more than 10 seconds and at most 365 days ahead"
      : "must be more than 10 seconds and at most 365 days ahead; leave it out to publish now";
  return [{ path: "scheduleAt", code: "out_of_range", message }];
}

/** The fields of a request, parsed or as they came. Any of them may be missing or of another type. */
type RequestFields = Readonly<Record<string, unknown>>;

const lengthOf = (value: unknown) => (Array.isArray(value) ? value.length : 0);

/** Returns issues between fields that are valid by themselves. The schema reports those that aren't. */
function crossFieldIssues({
  altTexts,
  mediaUrls,
  platforms,
  platformOptions,
}: RequestFields): readonly Issue[] {
  const issues: Issue[] = [];
  const isComparable = Array.isArray(mediaUrls) || mediaUrls === undefined;
  if (isComparable && lengthOf(altTexts) > 0 && lengthOf(altTexts) !== lengthOf(mediaUrls))
    issues.push({ path: "altTexts", code: "custom", message: ALT_TEXTS_FIT });
  const isNamed = typeof platformOptions === "object" && platformOptions !== null;
  if (!Array.isArray(platforms) || !isNamed) return issues;
  for (const name of Object.keys(platformOptions))
    if (!platforms.includes(name))
      issues.push({
        path: `platformOptions.${name}`,
        code: "custom",
        message: 'is for a network that "platforms" does not name: add it there, or leave this out',
      });
  return issues;
}

/** The most different files that were uploaded here, since one transaction reads and writes them all. */
const FILES_MAX = 50;
const FILE_FIELDS: readonly string[] = ["mediaUrls", "coverUrl", "thumbnailUrl"];

/** Returns the addresses of files in a part of a request, with their paths. */
function fileAddresses(
  value: unknown,
  path: string,
): readonly (readonly [path: string, url: string])[] {
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([name, part]: [string, unknown]) => {
    const at = path === "" ? name : `${path}.${name}`;
    if (!FILE_FIELDS.includes(name)) return fileAddresses(part, at);
    if (typeof part === "string") return [[at, part] as const];
    if (!Array.isArray(part)) return [];
    return part.flatMap((url: unknown, index) =>
      typeof url === "string" ? [[`${at}.${index}`, url.trim()] as const] : [],
    );
  });
}

/** Returns issues of addresses of files: those under the relay's own routes name one that was uploaded here. */
export function fileIssues(
  { mediaUrls, platformOptions }: RequestFields,
  baseUrl: string,
): readonly Issue[] {
  const issues: Issue[] = [];
  const files = new Set<string>();
  for (const [path, url] of fileAddresses({ mediaUrls, platformOptions }, "")) {
    const id = namedFile(baseUrl, url);
    if (typeof id === "string" && isId("file", id)) files.add(id);
    else if (id !== undefined)
      issues.push({
        path,
        code: "refused_url",
        message: "must be the `url` of a file, as GET /v1/media/{mediaId} answers it",
      });
    else if (/^http:/i.test(url))
      issues.push({ path, code: "invalid_format", message: NO_FILE_URL });
  }
  if (files.size > FILES_MAX)
    issues.push({
      path: "mediaUrls",
      code: "too_big",
      message: `must name at most ${FILES_MAX} different files that were uploaded, together with those of "platformOptions"`,
    });
  return issues;
}

/** Returns issues of a new post that its schema doesn't report. */
export function issuesOfDraft(body: RequestFields, now: Date, baseUrl: string): readonly Issue[] {
  return [
    ...crossFieldIssues(body),
    ...fileIssues(body, baseUrl),
    ...scheduleIssues(timeIn(body, now), now),
  ];
}

/** Returns the issues of a change of a stored draft, whose own time may have passed. */
export function issuesOfChange(
  before: Draft,
  change: RequestFields,
  { now, baseUrl }: { readonly now: Date; readonly baseUrl: string },
): readonly Issue[] {
  const { networks: platforms, scheduleAt, ...rest } = before;
  const given = Object.entries(change).filter(([, value]) => value !== undefined);
  const fields = { ...rest, platforms, ...Object.fromEntries(given) };
  const time = timeIn(change, now);
  return [
    ...crossFieldIssues(fields),
    ...fileIssues(change, baseUrl),
    ...scheduleIssues(time === scheduleAt ? null : time, now),
  ];
}

/** The largest offset of a time zone. */
const OFFSET_MS_MAX = 14 * 3_600_000;

/**
 * Returns the time that is asked for. One without an offset is refused by the schema, and counts here if it is over
 * everywhere, so that one answer says both.
 */
function timeIn({ scheduleAt }: RequestFields, now: Date): string | null {
  const known = instant().safeParse(scheduleAt).data;
  if (known !== undefined || typeof scheduleAt !== "string") return known ?? null;
  const [bare] = /^\d{4}-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d)?)?$/.exec(scheduleAt) ?? [];
  const time = bare === undefined ? NaN : Date.parse(bare.includes("T") ? `${bare}Z` : bare);
  return time + OFFSET_MS_MAX < now.getTime() ? new Date(time).toISOString() : null;
}

export function updatedDraft(draft: Draft, change: DraftChange): Draft {
  const { networks, ...rest } = draft;
  const defined = Object.fromEntries(
    Object.entries(change).filter(([, value]) => value !== undefined),
  );
  // Safe: a draft came from these fields, and the change has the same types.
  const fields = { ...rest, platforms: networks, ...defined } as PostFields;
  return toDraft(fields);
}

export const RetryBody = shape(() =>
  z.strictObject({
    platforms: networkNames().optional().describe("The default is all networks whose legs failed."),
  }),
);

export const RemoveBody = shape(() =>
  z.strictObject({
    platforms: networkNames().optional().describe("The default is everything that is published."),
  }),
);

export const ValidateQuery = shape(() =>
  z.strictObject({
    media: z
      .enum(["true", "false"])
      .default("false")
      .transform((value) => value === "true")
      .describe("Whether every media URL is fetched and checked, for 1 token each."),
  }),
);
