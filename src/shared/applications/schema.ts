import * as z from "zod";
import { pageQuery } from "../page.ts";
import { APPLICATION_STATUSES } from "./application.ts";

const name = z.string().trim().min(1).max(120);

export const CreateApplicationBody = z.strictObject({
  name,
  createDefaultKey: z.boolean().default(true).describe("Whether an `app_admin` key comes with it."),
  defaultKeyName: z
    .string()
    .trim()
    .max(80)
    .optional()
    .describe("The application's name and the word default when absent."),
});
export type CreateApplication = z.output<typeof CreateApplicationBody>;

export const UpdateApplicationBody = z.strictObject({
  name: name.optional(),
  status: z.enum(APPLICATION_STATUSES).optional(),
});
export type UpdateApplication = z.output<typeof UpdateApplicationBody>;

export const ListApplicationsQuery = z.strictObject(pageQuery);
export type ListApplications = z.output<typeof ListApplicationsQuery>;
