import * as z from "zod";
import { externalId, externalIdFilter, metadata } from "../../runtime/fields.ts";
import { pageQuery } from "../../runtime/page.ts";
import { shape, type ShapeOf } from "../../runtime/shape.ts";
import { PROFILE_STATUSES } from "./profile.ts";

const title = shape(() =>
  z.string().trim().min(1).max(120).describe("What your staff knows it by."),
);

export const CreateProfileBody = shape(() =>
  z.strictObject({
    title: title(),
    externalId: externalId().optional(),
    metadata: metadata().optional(),
  }),
);
export type CreateProfile = ShapeOf<typeof CreateProfileBody>;

export const UpdateProfileBody = shape(() =>
  z.strictObject({
    title: title().optional(),
    externalId: externalId().optional(),
    metadata: metadata().optional(),
    status: z
      .enum(["active", "disabled"])
      .optional()
      .describe("`disabled` stops publishing for it, `active` brings it back."),
  }),
);
export type UpdateProfile = ShapeOf<typeof UpdateProfileBody>;

export const ListProfilesQuery = shape(() =>
  z.strictObject({
    ...pageQuery(),
    externalId: externalIdFilter().optional(),
    status: z.enum(PROFILE_STATUSES).optional(),
  }),
);
export type ListProfiles = ShapeOf<typeof ListProfilesQuery>;
