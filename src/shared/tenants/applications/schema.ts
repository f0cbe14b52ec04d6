import * as z from "zod";
import { idOf, time } from "../../runtime/fields.ts";
import { exampleId } from "../../runtime/ids.ts";
import { pageQuery } from "../../runtime/page.ts";
import { shape, type ShapeOf } from "../../runtime/shape.ts";
import { KEY_SCOPES } from "../keys/key.ts";
import { APPLICATION_STATUSES, type Application, type ApplicationCreated } from "./application.ts";

const name = shape(() => z.string().trim().min(1).max(120));

export const CreateApplicationBody = shape(() =>
  z.strictObject({
    name: name(),
    createDefaultKey: z
      .boolean()
      .default(true)
      .describe("Whether to create an `app_admin` key with it."),
    defaultKeyName: z
      .string()
      .trim()
      .max(80)
      .optional()
      .describe('The default is the application\'s name followed by "default".'),
  }),
);
export type CreateApplication = ShapeOf<typeof CreateApplicationBody>;

export const UpdateApplicationBody = shape(() =>
  z.strictObject({
    name: name().optional(),
    status: z.enum(APPLICATION_STATUSES).optional(),
  }),
);
export type UpdateApplication = ShapeOf<typeof UpdateApplicationBody>;

export const ListApplicationsQuery = shape(() => z.strictObject(pageQuery()));
export type ListApplications = ShapeOf<typeof ListApplicationsQuery>;

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
      description:
        "A product of the platform. Keys, profiles and webhooks belong to one application.",
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
            secret: z.string().describe("It is returned only here."),
          })
          .nullable()
          .describe("Null when `createDefaultKey` was false."),
      })
      .meta({ id: "ApplicationCreated" }) satisfies z.ZodType<ApplicationCreated>,
);

const AT = "2026-03-04T10:00:00.000Z";

export const applicationExample = (): ShapeOf<typeof application> => ({
  id: exampleId("application"),
  name: "Planner",
  status: "active",
  createdAt: AT,
  updatedAt: AT,
});

export const applicationCreatedExample = (): ShapeOf<typeof applicationCreated> => ({
  ...applicationExample(),
  apiKey: {
    id: exampleId("key"),
    name: "Planner default",
    keyPrefix: "sk_live_01M7W9E6",
    scope: "app_admin",
    applicationId: exampleId("application"),
    secret: "sk_live_01M7W9E67FZ0MY7YCJ6NF25H01_theSecretPartThatIsShownOnce_000000",
  },
});
