import * as z from "zod";
import { externalIdFilter, instant } from "../../runtime/fields.ts";
import { NETWORK_NAMES } from "../../networks/names.ts";
import { pageQuery } from "../../runtime/page.ts";
import { shape, type ShapeOf } from "../../runtime/shape.ts";

export const ListPostsQuery = shape(() =>
  z.strictObject({
    ...pageQuery(),
    status: z
      .enum(["scheduled", "processing", "succeeded", "partial", "failed", "canceled"])
      .optional(),
    platform: z.enum(NETWORK_NAMES).optional().describe("Only those with a leg for this network."),
    externalId: externalIdFilter().optional(),
    from: instant().optional().describe("Created then or later."),
    to: instant().optional().describe("Created before."),
  }),
);
export type ListPosts = ShapeOf<typeof ListPostsQuery>;
