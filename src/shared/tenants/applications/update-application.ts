import { recordAudit } from "../../audit/record.ts";
import type { SessionScope } from "../../callers/scope.ts";
import { notFound } from "../../runtime/errors.ts";
import type { TenantsDeps } from "../deps.ts";
import type { Application } from "./application.ts";
import type { UpdateApplication } from "./schema.ts";

/**
 * Renames, disables or enables an application. The keys of a disabled one are refused from the next request on.
 * @throws AppError `not_found`
 */
export async function updateApplication(
  services: TenantsDeps,
  scope: SessionScope,
  { applicationId, name, status }: UpdateApplication & { readonly applicationId: string },
): Promise<Application> {
  const { platformId } = scope;
  const at = services.clock.now().toISOString();
  const { applications } = services;
  let application =
    status === undefined
      ? undefined
      : await applications.setStatus(platformId, applicationId, status, at);
  if (name !== undefined)
    application = await applications.rename(platformId, applicationId, name, at);
  if (application === undefined) throw notFound();
  recordAudit(services, scope, {
    action: status === "disabled" ? "application.disabled" : "application.updated",
    target: { type: "application", id: applicationId },
    applicationId,
  });
  return application;
}
