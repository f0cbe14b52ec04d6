import * as z from "zod";
import { idOf, time } from "../../runtime/fields.ts";
import { KEY_SCOPES } from "../keys/key.ts";
import { shape } from "../../runtime/shape.ts";
import { APPLICATION_STATUSES, type Application } from "./application.ts";
import type { ApplicationCreated } from "./create-application.ts";

const fields = shape(() => ({
  id: idOf("application"),
  name: z.string(),
  status: z.enum(APPLICATION_STATUSES),
  createdAt: time(),
  updatedAt: time(),
}));

export const application = shape(
  () =>
    z.strictObject(fields()).meta({
      id: "Application",
      description: "A product of the platform: keys, profiles and webhooks belong to one.",
    }) satisfies z.ZodType<Application>,
);

export const applicationCreated = shape(
  () =>
    z
      .strictObject({
        ...fields(),
        apiKey: z
          .strictObject({
            id: idOf("key"),
            name: z.string(),
            keyPrefix: z.string(),
            scope: z.enum(KEY_SCOPES),
            applicationId: idOf("application"),
            secret: z.string().describe("In this answer and in no other."),
          })
          .nullable()
          .describe("Null when `createDefaultKey` was false."),
      })
      .meta({ id: "ApplicationCreated" }) satisfies z.ZodType<ApplicationCreated>,
);
