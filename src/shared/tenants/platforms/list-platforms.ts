import type { OperatorScope } from "../../callers/scope.ts";
import { toPage, type Page } from "../../runtime/page.ts";
import type { TenantsDeps } from "../deps.ts";
import { summarizePlatform, type PlatformSummary } from "./platform-account.ts";
import type { ListPlatforms } from "../staff/schema.ts";

/** All platforms, newest first. @throws AppError `invalid_cursor` */
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
