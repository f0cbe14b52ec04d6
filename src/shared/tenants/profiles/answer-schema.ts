import * as z from "zod";
import { idOf, time } from "../../runtime/fields.ts";
import { shape } from "../../runtime/shape.ts";
import { PROFILE_STATUSES } from "./profile.ts";
import type { ProfileView } from "./view-profile.ts";

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
            "A disabled profile can be read, but not published for; one that is being erased is gone soon.",
          ),
        connections: z
          .array(z.strictObject({ platform: z.string(), status: z.string(), username: z.string() }))
          .describe("The accounts that are linked to it, in short."),
        createdAt: time(),
        updatedAt: time(),
      })
      .meta({
        id: "Profile",
        description: "One of the platform's end customers or organisations.",
      }) satisfies z.ZodType<ProfileView>,
);
