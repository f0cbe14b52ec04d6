import { recordAudit } from "../../audit/record.ts";
import type { PlatformScope } from "../../callers/scope.ts";
import type { TenantsDeps } from "../deps.ts";
import { revokeDescendants } from "./end-descendants.ts";
import { getKey } from "./get-key.ts";
import type { EndKey } from "./schema.ts";

/**
 * Ends the key for good; it stays listed. Revoking a revoked key changes nothing, but ends its descendants where they are
 * asked for.
 * @throws AppError `not_found`
 */
export async function revokeKey(
  services: TenantsDeps,
  scope: PlatformScope,
  { keyId, descendants }: EndKey & { readonly keyId: string },
): Promise<void> {
  const key = await getKey(services, scope, keyId);
  await services.keys.revoke(key);
  recordAudit(services, scope, {
    action: "api_key.revoked",
    target: { type: "api_key", id: keyId },
    applicationId: key.applicationId,
  });
  if (descendants) await revokeDescendants(services, scope, key);
}
