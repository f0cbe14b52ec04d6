import type { PlatformScope } from "../../callers/scope.ts";
import { notFound } from "../../runtime/errors.ts";
import type { TenantsDeps } from "../deps.ts";
import type { Application } from "./application.ts";

/** One application of the platform; for a key only its own exists. @throws AppError `not_found` */
export async function getApplication(
  services: TenantsDeps,
  { caller, platformId }: PlatformScope,
  applicationId: string,
): Promise<Application> {
  if (caller.kind === "api_key" && caller.applicationId !== applicationId) throw notFound();
  const application = await services.applications.find(platformId, applicationId);
  if (application === undefined) throw notFound();
  return application;
}
