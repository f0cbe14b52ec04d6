import { recordAudit } from "../../audit/record.ts";
import type { PlatformScope } from "../../callers/scope.ts";
import { AppError, serviceUnavailable } from "../../runtime/errors.ts";
import type { TenantsDeps } from "../deps.ts";
import { keyStatus, type ApiKey } from "./key.ts";
import type { Descendant } from "./key-index-store.ts";

/** What is being made meanwhile is found by looking again; what makes it has ended by then. */
const ROUNDS_MAX = 10;
const DELETED_MAX = 1_000;

function record(
  services: TenantsDeps,
  scope: PlatformScope,
  action: string,
  ended: readonly Descendant[],
): void {
  for (const { id, applicationId } of ended)
    recordAudit(services, scope, { action, target: { type: "api_key", id }, applicationId });
}

/**
 * Revokes what the key made, and what those made: no more than an application has in use. The key itself has to be revoked
 * before, so that nothing comes after. May be repeated.
 */
export async function revokeDescendants(
  services: TenantsDeps,
  scope: PlatformScope,
  key: ApiKey,
): Promise<readonly Descendant[]> {
  for (let round = 1; round <= ROUNDS_MAX; round += 1) {
    const found = await services.keys.descendants(key);
    const now = services.clock.now();
    const live = found.filter((each) => keyStatus(each, now) === "active");
    if (live.length === 0) return found;
    await services.keys.revokeAll(live);
    record(services, scope, "api_key.revoked", live);
  }
  throw serviceUnavailable();
}

/** The same, and deletes them all. @throws AppError `limit_reached` when there are more than can be deleted at once */
export async function deleteDescendants(
  services: TenantsDeps,
  scope: PlatformScope,
  key: ApiKey,
): Promise<void> {
  const found = await revokeDescendants(services, scope, key);
  const deleted = found.slice(0, DELETED_MAX);
  await services.keys.purgeAll(deleted);
  record(services, scope, "api_key.deleted", deleted);
  if (found.length > deleted.length)
    throw new AppError(
      "limit_reached",
      `All keys that descend from it are revoked, and ${DELETED_MAX} of them deleted. Repeat the request for the rest.`,
    );
}
