import * as z from "zod";
import { lenientList, objectShape, lenient } from "../contract/fields.ts";
import type { NetworkData } from "../contract/draft.ts";

const NO_TYPES: readonly string[] = [];

/**
 * What a server counts of a post.
 *
 * - `links`: as Mastodon does: letters as people see them, links with one length, and of mentions the name alone.
 * - `letters`: letters as people see them, and links and mentions as they are written.
 * - `codePoints`: code points, and links and mentions as they are written.
 */
export type Counts = (typeof COUNTS)[number];
const COUNTS = ["links", "letters", "codePoints"] as const;

/** Mastodon's own limits, used when the account's server states no others. */
export const LIMITS = {
  charactersMax: 500,
  charactersPerUrl: 23,
  mediaMax: 4,
  altTextMax: 1500,
  imageBytesMax: 16_777_216,
  imagePixelsMax: 33_177_600,
  videoBytesMax: 103_809_024,
  videoFrameRateMax: 120,
  /** No server states this one: `check_image_dimension` in `app/models/concerns/attachmentable.rb` of Mastodon. */
  gifPixelsMax: 921_600,
  /** Empty when the instance doesn't state them. */
  mediaTypes: NO_TYPES,
  /** Whether images and videos may share a post. The server's software decides this, not its description. */
  mixesFiles: false,
  /** Whether a post has to show a file, or to have a text, and whether it may be direct. Also decided by the software. */
  needsMedia: false,
  needsText: false,
  hasDirect: true,
  /** What the server counts of a text. */
  counts: "links" as Counts,
};
export type InstanceLimits = Readonly<typeof LIMITS>;

/** No server counts a link as longer than the longest address. */
const CHARACTERS_PER_URL_MAX = 2_048;

const count = (usual: number) => lenient(z.number().int().positive(), usual);
const limitsShape = objectShape(() => ({
  charactersMax: count(LIMITS.charactersMax),
  charactersPerUrl: lenient(
    z.number().int().positive().max(CHARACTERS_PER_URL_MAX),
    LIMITS.charactersPerUrl,
  ),
  mediaMax: count(LIMITS.mediaMax),
  altTextMax: count(LIMITS.altTextMax),
  imageBytesMax: count(LIMITS.imageBytesMax),
  imagePixelsMax: count(LIMITS.imagePixelsMax),
  videoBytesMax: count(LIMITS.videoBytesMax),
  videoFrameRateMax: count(LIMITS.videoFrameRateMax),
  gifPixelsMax: count(LIMITS.gifPixelsMax),
  mediaTypes: lenient(lenientList(z.string()), []),
  mixesFiles: lenient(z.boolean(), LIMITS.mixesFiles),
  needsMedia: lenient(z.boolean(), LIMITS.needsMedia),
  needsText: lenient(z.boolean(), LIMITS.needsText),
  hasDirect: lenient(z.boolean(), LIMITS.hasDirect),
  counts: lenient(z.enum(COUNTS), LIMITS.counts),
}));

/** Returns the limits stored with a connection, with Mastodon's own for those that are missing. */
export function limitsOf(data: NetworkData): InstanceLimits {
  return limitsShape().parse(data);
}
