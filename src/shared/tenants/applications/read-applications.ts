import type { PlatformScope } from "../../callers/scope.ts";
import { notFound } from "../../runtime/errors.ts";
import { toPage, type Page } from "../../runtime/page.ts";
import type { TenantsDeps } from "../deps.ts";
import type { Application } from "./application.ts";
import type { ListApplications } from "./schema.ts";

/** Returns an application of the platform; a key finds only its own. @throws AppError `not_found` */
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

/** Lists every application of the platform for a session, and its own for a key. @throws AppError `invalid_cursor` */
export async function listApplications(
  services: TenantsDeps,
  scope: PlatformScope,
  { limit, cursor }: ListApplications,
): Promise<Page<Application>> {
  const { caller, platformId } = scope;
  const keyApplicationId = caller.kind === "api_key" ? caller.applicationId : null;
  const bound = { list: "applications", platformId, keyApplicationId };
  const after = services.cursors.read(cursor, bound);
  const listed =
    keyApplicationId === null
      ? await services.applications.list(platformId, after, limit)
      : { items: [await getApplication(services, scope, keyApplicationId)], next: undefined };
  const makeCursor = (next: string) => services.cursors.make(next, bound);
  return toPage(listed, limit, makeCursor, (application) => application);
}
