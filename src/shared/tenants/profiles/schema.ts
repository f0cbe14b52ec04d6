import * as z from "zod";
import {
  clearable,
  externalId,
  externalIdFilter,
  idOf,
  metadata,
  time,
} from "../../runtime/fields.ts";
import { foldedName } from "../../runtime/folded-name.ts";
import { exampleId } from "../../runtime/ids.ts";
import { pageQuery } from "../../runtime/page.ts";
import { shape, type ShapeOf } from "../../runtime/shape.ts";
import { PROFILE_STATUSES, type ProfileView } from "./profile.ts";

const title = shape(() =>
  z.string().trim().min(1).max(120).describe("The name by which your staff knows it."),
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
    metadata: clearable(metadata(), {}),
    status: z
      .enum(["active", "disabled"])
      .optional()
      .describe("`disabled` stops publishing for it, `active` allows it again."),
  }),
);
export type UpdateProfile = ShapeOf<typeof UpdateProfileBody>;

const Q_LENGTH_MIN = 2;

export const ListProfilesQuery = shape(() =>
  z
    .strictObject({
      ...pageQuery(),
      externalId: externalIdFilter().optional(),
      status: z.enum(PROFILE_STATUSES).optional(),
      q: z
        .string()
        .trim()
        .min(Q_LENGTH_MIN)
        .max(64)
        .refine(
          (text) => text.length < Q_LENGTH_MIN || foldedName(text) !== "",
          "must have more than accents",
        )
        .optional()
        .describe(
          "Only those whose title or `externalId` begins with this, without regard to case and accents, ordered by title. It can't be combined with the other filters.",
        )
        .meta({ examples: ["corner"] }),
    })
    .refine((found) => !isSearchFiltered(found), {
      path: ["q"],
      error: 'can\'t be combined with "externalId" or "status"',
      // Also if another field is wrong.
      when: ({ value }) => typeof value === "object" && value !== null,
    }),
);

function isSearchFiltered(query: Readonly<Record<string, unknown>>): boolean {
  const { q, externalId, status } = query;
  return q !== undefined && (externalId !== undefined || status !== undefined);
}

export type ListProfiles = ShapeOf<typeof ListProfilesQuery>;

export const profile = shape(
  () =>
    z
      .strictObject({
        id: idOf("profile"),
        applicationId: idOf("application"),
        title: z.string(),
        externalId: z.string().nullable(),
        metadata: z.record(z.string(), z.string()),
        status: z
          .enum(PROFILE_STATUSES)
          .describe(
            "You can read a disabled profile but not publish for it. A profile that is being erased will soon be gone.",
          ),
        connections: z
          .array(z.strictObject({ platform: z.string(), status: z.string(), username: z.string() }))
          .describe("A summary of the accounts that are linked to it."),
        createdAt: time(),
        updatedAt: time(),
      })
      .meta({
        id: "Profile",
        description: "One of the platform's end customers or organizations.",
      }) satisfies z.ZodType<ProfileView>,
);

export const profileExample = (): ShapeOf<typeof profile> => ({
  id: exampleId("profile"),
  applicationId: exampleId("application"),
  title: "Corner Bakery",
  externalId: "customer-42",
  metadata: { plan: "pro" },
  status: "active",
  connections: [
    { platform: "bluesky", status: "active", username: "corner-bakery.example" },
    { platform: "mastodon", status: "needs_reauth", username: "bakery" },
  ],
  createdAt: "2026-03-04T10:00:00.000Z",
  updatedAt: "2026-03-04T10:00:00.000Z",
});

export const erasingExample = (): ShapeOf<typeof profile> => ({
  ...profileExample(),
  title: "Erased",
  externalId: null,
  metadata: {},
  status: "erasing",
});

export const disabledExample = (): ShapeOf<typeof profile> => ({
  ...profileExample(),
  status: "disabled",
});
