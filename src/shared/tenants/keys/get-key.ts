import type { PlatformScope } from "../../callers/scope.ts";
import { notFound } from "../../runtime/errors.ts";
import type { TenantsDeps } from "../deps.ts";
import type { ApiKey } from "./key.ts";

/** A key of the platform, and of the scope's application where it has one. @throws AppError `not_found` */
export async function getKey(
  services: TenantsDeps,
  { platformId, applicationId }: PlatformScope,
  keyId: string,
): Promise<ApiKey> {
  const key = await services.keys.find(platformId, keyId);
  if (key === undefined) throw notFound();
  if (applicationId !== null && key.applicationId !== applicationId) throw notFound();
  return key;
}
