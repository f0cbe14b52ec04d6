import { recordAudit } from "../../audit/record.ts";
import type { SessionScope } from "../../callers/scope.ts";
import { newId } from "../../runtime/ids.ts";
import { issueKey } from "../keys/create-key.ts";
import type { TenantsDeps } from "../deps.ts";
import type { Application, ApplicationCreated } from "./application.ts";
import type { CreateApplication } from "./schema.ts";

const KEY_NAME_LENGTH_MAX = 80;
const SUFFIX = " default";

/** Returns `<application name> default`, with as much of the name as fits into a key's name. */
function defaultKeyName(applicationName: string): string {
  let room = KEY_NAME_LENGTH_MAX - SUFFIX.length;
  const last = applicationName.charCodeAt(room - 1);
  if (applicationName.length > room && last >= 0xd800 && last <= 0xdbff) room -= 1;
  return applicationName.slice(0, room) + SUFFIX;
}

/** Creates an application and, unless that is declined, its first key. @throws AppError `limit_reached` */
export async function createApplication(
  services: TenantsDeps,
  scope: SessionScope,
  input: CreateApplication,
): Promise<ApplicationCreated> {
  const { platformId } = scope;
  const now = services.clock.now();
  const createdAt = now.toISOString();
  const application: Application = {
    id: newId("application", now),
    name: input.name,
    status: "active",
    createdAt,
    updatedAt: createdAt,
  };
  await services.applications.create(platformId, application);
  recordAudit(services, scope, {
    action: "application.created",
    target: { type: "application", id: application.id },
    applicationId: application.id,
  });
  if (!input.createDefaultKey) return { ...application, apiKey: null };
  const { key, secret } = await issueKey(
    services,
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
