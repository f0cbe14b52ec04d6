import * as z from "zod";
import { firstComment, optionsOf, fileUrl } from "../options.ts";

const COLLABORATORS_MAX = 3;

export const { options: instagramOptions, read: ownOptionsOf } = optionsOf(() => ({
  /** By default, one video becomes a reel and several files a carousel. */
  kind: z.enum(["feed", "reel", "story"]).optional(),
  /** Whether a reel shows in the feed as well. The default is yes. */
  shareToFeed: z.boolean().optional(),
  collaborators: z
    .array(
      z.string().regex(/^@?[A-Za-z0-9._]{1,30}$/, {
        error: "must be an Instagram username: up to 30 letters, digits, dots and underscores",
      }),
    )
    .max(COLLABORATORS_MAX)
    .optional(),
  coverUrl: fileUrl().optional(),
  /** The position in a reel from which its cover is taken. */
  thumbOffsetMs: z.int().min(0).max(900_000).optional(),
  firstComment: firstComment(2_200),
}));
