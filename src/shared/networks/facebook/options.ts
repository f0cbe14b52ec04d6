import * as z from "zod";
import { firstComment, linkUrl, optionsOf } from "../options.ts";

export const { options: facebookOptions, read: ownOptionsOf } = optionsOf(() => ({
  /** By default, one video becomes a reel if Facebook accepts it as one. */
  kind: z.enum(["feed", "reel", "story"]).optional(),
  link: linkUrl().optional(),
  title: z.string().trim().min(1).max(255).optional(),
  firstComment: firstComment(8_000),
}));
