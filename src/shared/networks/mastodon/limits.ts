import * as z from "zod";
import { entries, objectShape, spare } from "../contract/fields.ts";
import type { NetworkData } from "../contract/draft.ts";

const NO_TYPES: readonly string[] = [];

/** Mastodon's own limits, used when the account's server states no others. */
export const LIMITS = {
  charactersMax: 500,
  charactersPerUrl: 23,
  mediaMax: 4,
  altTextMax: 1500,
  imageBytesMax: 16_777_216,
  imagePixelsMax: 33_177_600,
  videoBytesMax: 103_809_024,
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
};
export type InstanceLimits = Readonly<typeof LIMITS>;

/** No server counts a link as longer than the longest address. */
const CHARACTERS_PER_URL_MAX = 2_048;

const count = (usual: number) => spare(z.number().int().positive(), usual);
const limitsShape = objectShape(() => ({
  charactersMax: count(LIMITS.charactersMax),
  charactersPerUrl: spare(
    z.number().int().positive().max(CHARACTERS_PER_URL_MAX),
    LIMITS.charactersPerUrl,
  ),
  mediaMax: count(LIMITS.mediaMax),
  altTextMax: count(LIMITS.altTextMax),
  imageBytesMax: count(LIMITS.imageBytesMax),
  imagePixelsMax: count(LIMITS.imagePixelsMax),
  videoBytesMax: count(LIMITS.videoBytesMax),
  gifPixelsMax: count(LIMITS.gifPixelsMax),
  mediaTypes: spare(entries(z.string()), []),
  mixesFiles: spare(z.boolean(), LIMITS.mixesFiles),
  needsMedia: spare(z.boolean(), LIMITS.needsMedia),
  needsText: spare(z.boolean(), LIMITS.needsText),
  hasDirect: spare(z.boolean(), LIMITS.hasDirect),
}));

/** Returns the limits stored with a connection, with Mastodon's own for those that are missing. */
export function limitsOf(data: NetworkData): InstanceLimits {
  return limitsShape().parse(data);
}
