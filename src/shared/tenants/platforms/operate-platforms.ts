import { recordAudit } from "../../audit/record.ts";
import type { OperatorScope } from "../../callers/scope.ts";
import { notFound } from "../../runtime/errors.ts";
import { toPage, type Page } from "../../runtime/page.ts";
import type { TenantsDeps } from "../deps.ts";
import type { ListPlatforms, UpdatePlatform } from "./schema.ts";
import { summarizePlatform, type PlatformSummary } from "./platform-account.ts";

/** Lists all platforms, newest first. @throws AppError `invalid_cursor` */
export async function listPlatforms(
  services: TenantsDeps,
  _scope: OperatorScope,
  { limit, cursor }: ListPlatforms,
): Promise<Page<PlatformSummary>> {
  const bound = { list: "platforms" };
  const after = services.cursors.read(cursor, bound);
  const { items, next } = await services.platforms.list(after, limit);
  const summaries = await Promise.all(items.map((item) => summarizePlatform(services, item)));
  return toPage(
    { items: summaries, next },
    limit,
    (position) => services.cursors.make(position, bound),
    (summary) => summary,
  );
}

/** Suspends a platform, so that all its keys and sessions are refused, or reactivates it. @throws AppError `not_found` */
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
