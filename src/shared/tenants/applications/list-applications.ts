import type { PlatformScope } from "../../callers/scope.ts";
import { toPage, type Page } from "../../runtime/page.ts";
import type { TenantsDeps } from "../deps.ts";
import type { Application } from "./application.ts";
import { getApplication } from "./get-application.ts";
import type { ListApplications } from "./schema.ts";

/** A session sees every application of its platform, a key its own. @throws AppError `invalid_cursor` */
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
