import { recordAudit } from "../../audit/record.ts";
import type { OperatorScope } from "../../callers/scope.ts";
import { notFound } from "../../runtime/errors.ts";
import type { TenantsDeps } from "../deps.ts";
import { summarizePlatform, type PlatformSummary } from "./platform-account.ts";
import type { UpdatePlatform } from "../staff/schema.ts";

/** Suspends a platform, which refuses all its keys and sessions, or brings it back. @throws AppError `not_found` */
export async function updatePlatform(
  services: TenantsDeps,
  scope: OperatorScope,
  { platformId, status }: UpdatePlatform & { readonly platformId: string },
): Promise<PlatformSummary> {
  const at = services.clock.now().toISOString();
  const platform = await services.platforms.setStatus(platformId, status, at);
  if (platform === undefined) throw notFound();
  recordAudit(services, scope, {
    action: status === "suspended" ? "platform.suspended" : "platform.activated",
    target: { type: "platform", id: platformId },
    platformId,
  });
  return await summarizePlatform(services, platform);
}
