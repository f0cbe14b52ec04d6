import * as z from "zod";
import { optionsOf } from "../options.ts";

const VISIBILITIES = ["public", "unlisted", "private", "direct"] as const;
const MEDIA_MAX = 20;

export const { options: mastodonOptions, read: ownOptionsOf } = optionsOf(() => {
  /** From -1 (left, bottom) to 1 (right, top). */
  const coordinate = z.number().min(-1).max(1);
  return {
    /** The default is the account's own. */
    visibility: z.enum(VISIBILITIES).optional(),
    spoilerText: z.string().max(5000).optional(),
    sensitive: z.boolean().optional(),
    language: z
      .string()
      .regex(/^[a-z]{2,3}(?:-[A-Za-z]{2,4})?$/, {
        error: "must be a language code such as en or pt-BR",
      })
      .optional(),
    /** For each media file, the point that stays visible when it is cropped. */
    focus: z
      .array(z.strictObject({ x: coordinate, y: coordinate }).nullable())
      .max(MEDIA_MAX)
      .optional(),
  };
});
