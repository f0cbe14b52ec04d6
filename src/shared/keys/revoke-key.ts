import { recordAudit } from "../audit/record.ts";
import type { PlatformScope } from "../callers/scope.ts";
import type { Services } from "../services.ts";
import { getKey } from "./get-key.ts";

/** Ends the key for good; it stays listed. Revoking a revoked key changes nothing. @throws AppError `not_found` */
export async function revokeKey(
  services: Services,
  scope: PlatformScope,
  keyId: string,
): Promise<void> {
  const key = await getKey(services, scope, keyId);
  await services.keys.revoke(key);
  recordAudit(services, scope, {
    action: "api_key.revoked",
    target: { type: "api_key", id: keyId },
    applicationId: key.applicationId,
  });
}
