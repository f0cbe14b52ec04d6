import * as z from "zod";
import { shape, type ShapeOf } from "../../runtime/shape.ts";
import { linkUrl, networkOptions } from "../options.ts";

const ownFields = shape(() => ({
  /** Without it, one video becomes a reel where Facebook takes it as one. */
  kind: z.enum(["feed", "reel", "story"]).optional(),
  link: linkUrl().optional(),
  /** Of a video. */
  title: z.string().trim().min(1).max(255).optional(),
}));

export const facebookOptions = shape(() => networkOptions(ownFields()));

const ownOptions = shape(() => z.object(ownFields()));

/** Returns the options of a draft, which were validated when the post was accepted. */
export function ownOptionsOf(
  options: Readonly<Record<string, unknown>>,
): ShapeOf<typeof ownOptions> {
  return ownOptions().parse(options);
}
