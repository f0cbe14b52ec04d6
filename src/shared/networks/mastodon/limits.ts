import * as z from "zod";
import { entries, spare } from "../contract/fields.ts";
import { shape } from "../../runtime/shape.ts";
import type { NetworkData } from "../contract/draft.ts";

export interface InstanceLimits {
  readonly charactersMax: number;
  readonly charactersPerUrl: number;
  readonly mediaMax: number;
  readonly altTextMax: number;
  readonly imageBytesMax: number;
  readonly imagePixelsMax: number;
  readonly videoBytesMax: number;
  /** Empty when the instance does not tell. */
  readonly mediaTypes: readonly string[];
  /** Whether images and videos may share a post: what the server runs tells, not its description. */
  readonly mixesFiles: boolean;
  /** Whether a post has to show a file, and whether it may be direct: known in the same way. */
  readonly needsMedia: boolean;
  readonly hasDirect: boolean;
}

/** Mastodon's own, which hold where the account's server tells no others. */
export const LIMITS: InstanceLimits = {
  charactersMax: 500,
  charactersPerUrl: 23,
  mediaMax: 4,
  altTextMax: 1500,
  imageBytesMax: 16_777_216,
  imagePixelsMax: 33_177_600,
  videoBytesMax: 103_809_024,
  mediaTypes: [],
  mixesFiles: false,
  needsMedia: false,
  hasDirect: true,
};

/** No server counts a link for more than the longest address. */
const CHARACTERS_PER_URL_MAX = 2_048;
const count = shape(() => spare(z.number().int().positive(), 0));
const limitsShape = shape(() =>
  z.object({
    charactersMax: count(),
    charactersPerUrl: spare(z.number().int().positive().max(CHARACTERS_PER_URL_MAX), 0),
    mediaMax: count(),
    altTextMax: count(),
    imageBytesMax: count(),
    imagePixelsMax: count(),
    videoBytesMax: count(),
    mediaTypes: spare(entries(z.string()), []),
    mixesFiles: spare(z.boolean(), false),
    needsMedia: spare(z.boolean(), false),
    hasDirect: spare(z.boolean(), true),
  }),
);

/** Returns the limits kept with a connection, and Mastodon's own for those that are missing. */
export function limitsOf(data: NetworkData): InstanceLimits {
  const known = Object.entries(limitsShape().parse(data)).filter(([, value]) => value !== 0);
  return { ...LIMITS, ...Object.fromEntries(known) };
}
