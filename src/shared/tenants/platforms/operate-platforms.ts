import { refuseLostPlus } from "../../runtime/fields.ts";
import { isId } from "../../runtime/ids.ts";
import { toPage, type Page } from "../../runtime/page.ts";
import type { TenantsDeps } from "../deps.ts";
import type { ListPlatforms } from "../platform-schema.ts";
import { summarizePlatform, type PlatformSummary } from "./platform-account.ts";

/**
 * Lists all platforms, newest first. With `q`, lists the platform with this id, or those whose names begin with it, in
 * the order of names. `found` is the platform that `q` names in another way. @throws AppError `invalid_cursor`
 */
export async function pageOfPlatforms(
  deps: Pick<TenantsDeps, "cursors" | "stores" | "readWallet">,
  { q, limit, cursor }: ListPlatforms,
  found = q !== undefined && isId("platform", q) ? q : undefined,
): Promise<Page<PlatformSummary>> {
  const bound = { list: "platforms", q };
  const after = deps.cursors.read(cursor, bound);
  const { platforms } = deps.stores;
  const one = found === undefined ? undefined : await platforms.find(found);
  const { items, next } =
    one === undefined ? await platforms.list(after, limit, q) : { items: [one], next: undefined };
  if (q?.includes("@") === true) refuseLostPlus("q", q, items.length > 0 || after !== undefined);
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
