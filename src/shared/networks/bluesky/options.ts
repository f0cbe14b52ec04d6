import * as z from "zod";
import { languageTag, linkUrl, optionsOf, fileUrl } from "../options.ts";

/** Labels that authors can give to their own posts. The list is the network's. */
const SELF_LABELS = ["sexual", "nudity", "porn", "graphic-media", "!no-unauthenticated"] as const;

export const { options: blueskyOptions, read: ownOptionsOf } = optionsOf(() => {
  const card = z.strictObject({
    url: linkUrl(),
    title: z.string().trim().min(1).max(300),
    description: z.string().max(1000).optional(),
    thumbnailUrl: fileUrl().optional(),
  });
  return {
    langs: z.array(languageTag()).max(3).optional(),
    /** `false`: no card, not even for the first link of the text. */
    linkCard: z.union([card, z.literal(false)]).optional(),
    labels: z.array(z.enum(SELF_LABELS)).max(SELF_LABELS.length).optional(),
  };
});

export type LinkCard = Exclude<ReturnType<typeof ownOptionsOf>["linkCard"], false | undefined>;
