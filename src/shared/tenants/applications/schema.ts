import * as z from "zod";
import { pageQuery } from "../../runtime/page.ts";
import { shape, type ShapeOf } from "../../runtime/shape.ts";
import { APPLICATION_STATUSES } from "./application.ts";

const name = shape(() => z.string().trim().min(1).max(120));

export const CreateApplicationBody = shape(() =>
  z.strictObject({
    name: name(),
    createDefaultKey: z
      .boolean()
      .default(true)
      .describe("Whether an `app_admin` key comes with it."),
    defaultKeyName: z
      .string()
      .trim()
      .max(80)
      .optional()
      .describe("The application's name and the word default when absent."),
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
