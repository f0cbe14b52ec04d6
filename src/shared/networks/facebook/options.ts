import * as z from "zod";
import { networkOptions } from "../options.ts";

const LINK_CHARACTERS_MAX = 2048;

const ownFields = {
  /** Without it, one video becomes a reel where Facebook takes it as one. */
  kind: z.enum(["feed", "reel", "story"]).optional(),
  link: z
    .url({ protocol: /^https?$/, error: "must be an http or https URL" })
    .max(LINK_CHARACTERS_MAX)
    .optional(),
  /** Of a video. */
  title: z.string().trim().min(1).max(255).optional(),
};

export const facebookOptions = networkOptions(ownFields);

const ownOptions = z.object(ownFields);

/** The options of a draft, which were parsed when the post was accepted. */
export function ownOptionsOf(
  options: Readonly<Record<string, unknown>>,
): z.infer<typeof ownOptions> {
  return ownOptions.parse(options);
}
