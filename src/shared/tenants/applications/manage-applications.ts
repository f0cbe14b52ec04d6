import type { SessionScope, PlatformScope } from "../../callers/scope.ts";
import { newId } from "../../runtime/ids.ts";
import { issueKey } from "../keys/create-key.ts";
import type { TenantsDeps } from "../deps.ts";
import type { Application, ApplicationCreated } from "./application.ts";
import type { CreateApplication, UpdateApplication, ListApplications } from "./schema.ts";
import { requireConfirmed, requireOwner } from "../session-rules.ts";
import { admitOwnersNotice } from "../../mail/mail.ts";
import { limitReached, notFound } from "../../runtime/errors.ts";
import { toPage, type Page } from "../../runtime/page.ts";

/**
 * Maximum number of applications of a platform. Some events concern all of them, and are logged and sent for each.
 * Requests at the same time may exceed it by a few.
 */
const APPLICATIONS_MAX = 1_000;
const KEY_NAME_LENGTH_MAX = 80;
const SUFFIX = " default";

/** Returns `<application name> default`, with as much of the name as fits into a key's name. */
function defaultKeyName(applicationName: string): string {
  let room = KEY_NAME_LENGTH_MAX - SUFFIX.length;
  const last = applicationName.charCodeAt(room - 1);
  if (applicationName.length > room && last >= 0xd800 && last <= 0xdbff) room -= 1;
  return applicationName.slice(0, room) + SUFFIX;
}

/**
 * Creates an application and, unless declined, its first key, which only an owner may do.
 * @throws AppError `owner_required`, `confirmation_required`, `limit_reached`, `rate_limited`
 */
export async function createApplication(
  deps: TenantsDeps,
  scope: SessionScope,
  input: CreateApplication,
): Promise<ApplicationCreated> {
  const { platformId } = scope;
  if (input.createDefaultKey) {
    requireOwner(deps.audit, scope);
    requireConfirmed(deps, scope);
    await admitOwnersNotice(deps, platformId);
  }
  const { applications } = deps.stores;
  if ((await applications.listIds(platformId)).length >= APPLICATIONS_MAX)
    throw limitReached(`A platform has at most ${APPLICATIONS_MAX} applications.`);
  const now = deps.clock.now();
  const createdAt = now.toISOString();
  const application: Application = {
    id: newId("application", now),
    name: input.name,
    status: "active",
    createdAt,
    updatedAt: createdAt,
  };
  await applications.create(platformId, application);
  deps.audit.record(scope, {
    action: "application.created",
    target: { type: "application", id: application.id },
    applicationId: application.id,
  });
  if (!input.createDefaultKey) return { ...application, apiKey: null };
  const { key, secret } = await issueKey(
    deps,
    { ...scope, applicationId: application.id },
    {
      name: input.defaultKeyName || defaultKeyName(input.name),
      scope: "app_admin",
      allowedProfileIds: [],
      expiresAt: null,
    },
  );
  const { id, name, keyPrefix, scope: keyScope, applicationId } = key;
  return {
    ...application,
    apiKey: { id, name, keyPrefix, scope: keyScope, applicationId, secret },
  };
}

/**
 * Renames, disables or enables an application. From the next request on, the keys of a disabled one are refused.
 * @throws AppError `owner_required`, `not_found`
 */
export async function updateApplication(
  deps: TenantsDeps,
  scope: SessionScope,
  { applicationId, name, status }: UpdateApplication & { readonly applicationId: string },
): Promise<Application> {
  const { platformId } = scope;
  if (status === "disabled") requireOwner(deps.audit, scope);
  const at = deps.clock.now().toISOString();
  const { applications } = deps.stores;
  let application =
    status === undefined
      ? undefined
      : await applications.setStatus(platformId, applicationId, status, at);
  if (name !== undefined)
    application = await applications.rename(platformId, applicationId, name, at);
  if (application === undefined) throw notFound();
  deps.audit.record(scope, {
    action: status === "disabled" ? "application.disabled" : "application.updated",
    target: { type: "application", id: applicationId },
    applicationId,
  });
  return application;
}

/** Returns an application of the platform. A key finds only its own. @throws AppError `not_found` */
export async function getApplication(
  deps: Pick<TenantsDeps, "stores">,
  { caller, platformId }: PlatformScope,
  applicationId: string,
): Promise<Application> {
  if (caller.kind === "api_key" && caller.applicationId !== applicationId) throw notFound();
  const application = await deps.stores.applications.find(platformId, applicationId);
  if (application === undefined) throw notFound();
  return application;
}

/** Lists every application of the platform for a session, and its own for a key. @throws AppError `invalid_cursor` */
export async function listApplications(
  deps: TenantsDeps,
  scope: PlatformScope,
  { limit, cursor }: ListApplications,
): Promise<Page<Application>> {
  const { caller, platformId } = scope;
  const keyApplicationId = caller.kind === "api_key" ? caller.applicationId : null;
  const bound = { list: "applications", platformId, keyApplicationId };
  const after = deps.cursors.read(cursor, bound);
  const listed =
    keyApplicationId === null
      ? await deps.stores.applications.list(platformId, after, limit)
      : { items: [await getApplication(deps, scope, keyApplicationId)], next: undefined };
  const makeCursor = (next: string) => deps.cursors.make(next, bound);
  return toPage(listed, limit, makeCursor, (application) => application);
}
