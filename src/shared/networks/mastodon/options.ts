import * as z from "zod";
import { shape, type ShapeOf } from "../../runtime/shape.ts";
import { networkOptions } from "../options.ts";

const VISIBILITIES = ["public", "unlisted", "private", "direct"] as const;

const MEDIA_MAX = 20;
/** From -1 (left, bottom) to 1 (right, top). */
const coordinate = shape(() => z.number().min(-1).max(1));

const ownFields = shape(() => ({
  /** The account's own default when absent. */
  visibility: z.enum(VISIBILITIES).optional(),
  spoilerText: z.string().max(5000).optional(),
  sensitive: z.boolean().optional(),
  language: z
    .string()
    .regex(/^[a-z]{2,3}(?:-[A-Za-z]{2,4})?$/, {
      error: "must be a language code such as en or pt-BR",
    })
    .optional(),
  /** Per media file, what stays in sight where it is cropped. */
  focus: z
    .array(z.strictObject({ x: coordinate(), y: coordinate() }).nullable())
    .max(MEDIA_MAX)
    .optional(),
}));

export const mastodonOptions = shape(() => networkOptions(ownFields()));

const ownOptions = shape(() => z.object(ownFields()));

/** Returns the options of a draft, which were validated when the post was accepted. */
export function ownOptionsOf(
  options: Readonly<Record<string, unknown>>,
): ShapeOf<typeof ownOptions> {
  return ownOptions().parse(options);
}
