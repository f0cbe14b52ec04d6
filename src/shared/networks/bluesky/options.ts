import * as z from "zod";
import { shape, type ShapeOf } from "../../runtime/shape.ts";
import { languageTag, linkUrl, networkOptions, publicUrl } from "../options.ts";

const linkCard = shape(() =>
  z.strictObject({
    url: linkUrl(),
    title: z.string().trim().min(1).max(300),
    description: z.string().max(1000).optional(),
    thumbnailUrl: publicUrl().optional(),
  }),
);

export type LinkCard = ShapeOf<typeof linkCard>;

/** What the author says of the own post; the list is the network's. */
const SELF_LABELS = ["sexual", "nudity", "porn", "graphic-media", "!no-unauthenticated"] as const;

export const blueskyOptions = shape(() =>
  networkOptions({
    langs: z.array(languageTag()).max(3).optional(),
    /** `false`: no card, not even for the first link of the text. */
    linkCard: z.union([linkCard(), z.literal(false)]).optional(),
    labels: z.array(z.enum(SELF_LABELS)).max(SELF_LABELS.length).optional(),
  }),
);

const ownOptions = shape(() =>
  z.object({
    langs: z.array(z.string()).optional(),
    linkCard: z.union([linkCard(), z.literal(false)]).optional(),
    labels: z.array(z.string()).optional(),
  }),
);

/** Returns the options of a draft, which were validated when the post was accepted. */
export function ownOptionsOf(
  options: Readonly<Record<string, unknown>>,
): ShapeOf<typeof ownOptions> {
  return ownOptions().parse(options);
}
