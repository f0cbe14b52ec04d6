import { recordAudit } from "../audit/record.ts";
import type { PlatformScope } from "../callers/scope.ts";
import type { Services } from "../services.ts";
import { getKey } from "./get-key.ts";

/** Ends the key and purges everything that was stored of it. @throws AppError `not_found` */
export async function deleteKey(
  services: Services,
  scope: PlatformScope,
  keyId: string,
): Promise<void> {
  const key = await getKey(services, scope, keyId);
  await services.keys.purge(key);
  recordAudit(services, scope, {
    action: "api_key.deleted",
    target: { type: "api_key", id: keyId },
    applicationId: key.applicationId,
  });
}
