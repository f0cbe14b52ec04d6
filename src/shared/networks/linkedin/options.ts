import * as z from "zod";
import { firstComment, linkUrl, optionsOf, fileUrl } from "../options.ts";

export const TITLE_CHARACTERS_MAX = 400;

export const { options: linkedinOptions, read: ownOptionsOf } = optionsOf(() => ({
  visibility: z.enum(["PUBLIC", "CONNECTIONS"]).optional(),
  /** LinkedIn reads no page, so the content of the card has to be given. */
  link: z
    .strictObject({
      url: linkUrl(),
      title: z.string().trim().min(1).max(TITLE_CHARACTERS_MAX),
      description: z.string().max(4086).optional(),
      thumbnailUrl: fileUrl().optional(),
    })
    .optional(),
  /** Readers see it above the document. The default is the file's name. */
  documentTitle: z.string().trim().min(1).max(TITLE_CHARACTERS_MAX).optional(),
  firstComment: firstComment(1_250),
}));
