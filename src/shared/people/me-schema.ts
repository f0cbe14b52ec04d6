import * as z from "zod";
import { idOf, time } from "../runtime/fields.ts";
import { exampleId } from "../runtime/ids.ts";
import { shape, type ShapeOf } from "../runtime/shape.ts";
import {
  accountFields,
  applicationSummary,
  platformAccountExample,
} from "../tenants/platform-schema.ts";
import { role, user, userExample } from "./staff/schema.ts";
import type { Me } from "./me.ts";

export const me = shape(
  () =>
    z
      .strictObject({
        ...accountFields(),
        application: applicationSummary()
          .nullable()
          .describe("The key's application, or the one named by `X-Application-Id`."),
        auth: z.strictObject({
          kind: z.enum(["api_key", "session"]),
          apiKeyId: idOf("key").nullable(),
          userId: idOf("user").nullable(),
          applicationId: idOf("application").nullable(),
          role: role().optional().describe("The role of a session's user."),
          confirmedUntil: time()
            .nullable()
            .optional()
            .describe("For a session, the time until which `POST /v1/auth/confirm` is not needed."),
        }),
        user: user().optional().describe("For a session, the user who is logged in."),
      })
      .meta({
        id: "Me",
        description: "The caller's platform, and who the caller is.",
      }) satisfies z.ZodType<Me>,
);

export const meExample = (): ShapeOf<typeof me> => ({
  ...platformAccountExample(),
  application: { id: exampleId("application"), name: "Planner", status: "active" },
  auth: {
    kind: "session",
    apiKeyId: null,
    userId: exampleId("user"),
    applicationId: exampleId("application"),
    role: "owner",
    confirmedUntil: "2026-03-04T10:10:00.000Z",
  },
  user: userExample(),
});
