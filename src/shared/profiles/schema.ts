import * as z from "zod";
import { pageQuery } from "../page.ts";
import { PROFILE_STATUSES } from "./profile.ts";

const METADATA_NAMES_MAX = 50;

const title = z.string().trim().min(1).max(120);
/** Null and "" both mean that there is none. */
const externalId = z
  .string()
  .max(255)
  .nullable()
  .transform((text) => text || null);
const metadata = z
  .record(z.string().min(1).max(64), z.string().max(500))
  .refine((value) => Object.keys(value).length <= METADATA_NAMES_MAX, {
    message: `must not have more than ${METADATA_NAMES_MAX} names`,
  });

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
  status: z.enum(PROFILE_STATUSES).optional(),
});
export type UpdateProfile = z.output<typeof UpdateProfileBody>;

export const ListProfilesQuery = z.strictObject({
  ...pageQuery,
  externalId: z.string().min(1).max(255).optional(),
  status: z.enum(PROFILE_STATUSES).optional(),
});
export type ListProfiles = z.output<typeof ListProfilesQuery>;
