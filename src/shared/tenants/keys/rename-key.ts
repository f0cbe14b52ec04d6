import { recordAudit } from "../../audit/record.ts";
import type { PlatformScope } from "../../callers/scope.ts";
import { notFound } from "../../runtime/errors.ts";
import type { TenantsDeps } from "../deps.ts";
import { getKey } from "./get-key.ts";
import { viewKey, type KeyView } from "./key.ts";
import type { RenameKey } from "./schema.ts";

/** @throws AppError `not_found` */
export async function renameKey(
  services: TenantsDeps,
  scope: PlatformScope,
  { keyId, name }: RenameKey & { readonly keyId: string },
): Promise<KeyView> {
  const key = await getKey(services, scope, keyId);
  const renamed = await services.keys.rename(key, name);
  if (renamed === undefined) throw notFound();
  recordAudit(services, scope, {
    action: "api_key.renamed",
    target: { type: "api_key", id: keyId },
    applicationId: key.applicationId,
  });
  return viewKey(renamed, services.clock.now());
}
