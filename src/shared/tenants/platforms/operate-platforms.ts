import type { OperatorScope } from "../../callers/scope.ts";
import { toPage, type Page } from "../../runtime/page.ts";
import type { TenantsDeps } from "../deps.ts";
import type { ListPlatforms } from "../platform-schema.ts";
import { summarizePlatform, type PlatformSummary } from "./platform-account.ts";

/** Lists all platforms, newest first. @throws AppError `invalid_cursor` */
export async function listPlatforms(
  services: TenantsDeps,
  _scope: OperatorScope,
  { limit, cursor }: ListPlatforms,
): Promise<Page<PlatformSummary>> {
  const bound = { list: "platforms" };
  const after = services.cursors.read(cursor, bound);
  const { items, next } = await services.stores.platforms.list(after, limit);
  const summaries = await Promise.all(
    items.map((item) => summarizePlatform(services.readWallet, item)),
  );
  return toPage(
    { items: summaries, next },
    limit,
    (position) => services.cursors.make(position, bound),
    (summary) => summary,
  );
}
