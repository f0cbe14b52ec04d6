import * as z from "zod";
import { networkOptions } from "../options.ts";

const VISIBILITIES = ["public", "unlisted", "private", "direct"] as const;

const ownFields = {
  /** The account's own default when absent. */
  visibility: z.enum(VISIBILITIES).optional(),
  spoilerText: z.string().max(5000).optional(),
  sensitive: z.boolean().optional(),
  language: z
    .string()
    .regex(/^[a-z]{2,3}(?:-[A-Za-z]{2,4})?$/, { error: "must be a language code such as en" })
    .optional(),
};

export const mastodonOptions = networkOptions(ownFields);

const ownOptions = z.object(ownFields);

/** The options of a draft, which were parsed when the post was accepted. */
export function ownOptionsOf(
  options: Readonly<Record<string, unknown>>,
): z.infer<typeof ownOptions> {
  return ownOptions.parse(options);
}
