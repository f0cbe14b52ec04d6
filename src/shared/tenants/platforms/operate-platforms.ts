import type { OperatorScope } from "../../callers/scope.ts";
import { toPage, type Page } from "../../runtime/page.ts";
import type { TenantsDeps } from "../deps.ts";
import type { ListPlatforms } from "../platform-schema.ts";
import { summarizePlatform, type PlatformSummary } from "./platform-account.ts";

/** Lists all platforms, newest first. @throws AppError `invalid_cursor` */
export async function listPlatforms(
  deps: TenantsDeps,
  _scope: OperatorScope,
  { limit, cursor }: ListPlatforms,
): Promise<Page<PlatformSummary>> {
  const bound = { list: "platforms" };
  const after = deps.cursors.read(cursor, bound);
  const { items, next } = await deps.stores.platforms.list(after, limit);
  const summaries = await Promise.all(
    items.map((item) => summarizePlatform(deps.readWallet, item)),
  );
  return toPage(
    { items: summaries, next },
    limit,
    (position) => deps.cursors.make(position, bound),
    (summary) => summary,
  );
}
