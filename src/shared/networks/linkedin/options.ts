import * as z from "zod";
import { shape, type ShapeOf } from "../../runtime/shape.ts";
import { linkUrl, networkOptions, publicUrl } from "../options.ts";

export const TITLE_CHARACTERS_MAX = 400;

/** LinkedIn reads no page: what the card is to show has to be given. */
const link = shape(() =>
  z.strictObject({
    url: linkUrl(),
    title: z.string().trim().min(1).max(TITLE_CHARACTERS_MAX),
    description: z.string().max(4086).optional(),
    thumbnailUrl: publicUrl().optional(),
  }),
);

const ownFields = shape(() => ({
  visibility: z.enum(["PUBLIC", "CONNECTIONS"]).optional(),
  link: link().optional(),
  /** Readers see it above the document; absent: the name of the file. */
  documentTitle: z.string().trim().min(1).max(TITLE_CHARACTERS_MAX).optional(),
}));

export const linkedinOptions = shape(() => networkOptions(ownFields()));

const ownOptions = shape(() => z.object(ownFields()));

/** Returns the options of a draft, which were validated when the post was accepted. */
export function ownOptionsOf(
  options: Readonly<Record<string, unknown>>,
): ShapeOf<typeof ownOptions> {
  return ownOptions().parse(options);
}
