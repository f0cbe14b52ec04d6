import { recordAudit } from "../../audit/record.ts";
import type { PlatformScope } from "../../callers/scope.ts";
import type { TenantsDeps } from "../deps.ts";
import { deleteDescendants } from "./end-descendants.ts";
import { getKey } from "./get-key.ts";
import type { EndKey } from "./schema.ts";

/**
 * Ends the key and purges everything that was stored of it, with its descendants where they are asked for: the key itself
 * last, so that the request can be repeated.
 * @throws AppError `not_found`, `limit_reached`
 */
export async function deleteKey(
  services: TenantsDeps,
  scope: PlatformScope,
  { keyId, descendants }: EndKey & { readonly keyId: string },
): Promise<void> {
  const key = await getKey(services, scope, keyId);
  if (descendants) {
    await services.keys.revoke(key);
    await deleteDescendants(services, scope, key);
  }
  await services.keys.purge(key);
  recordAudit(services, scope, {
    action: "api_key.deleted",
    target: { type: "api_key", id: keyId },
    applicationId: key.applicationId,
  });
}
