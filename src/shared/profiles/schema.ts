import * as z from "zod";
import { externalId, externalIdFilter, metadata } from "../fields.ts";
import { pageQuery } from "../page.ts";
import { PROFILE_STATUSES } from "./profile.ts";

const title = z.string().trim().min(1).max(120).describe("What your staff knows it by.");

export const CreateProfileBody = z.strictObject({
  title,
  externalId: externalId.optional(),
  metadata: metadata.optional(),
});
export type CreateProfile = z.output<typeof CreateProfileBody>;

export const UpdateProfileBody = z.strictObject({
  title: title.optional(),
  externalId: externalId.optional(),
  metadata: metadata.optional(),
  status: z
    .enum(["active", "disabled"])
    .optional()
    .describe("`disabled` stops publishing for it, `active` brings it back."),
});
export type UpdateProfile = z.output<typeof UpdateProfileBody>;

export const ListProfilesQuery = z.strictObject({
  ...pageQuery,
  externalId: externalIdFilter.optional(),
  status: z.enum(PROFILE_STATUSES).optional(),
});
export type ListProfiles = z.output<typeof ListProfilesQuery>;
