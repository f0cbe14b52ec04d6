import { boundToView, listViewOf } from "../../callers/caller.ts";
import type { PlatformScope } from "../../callers/scope.ts";
import { notFound } from "../../runtime/errors.ts";
import { toPage, type Page } from "../../runtime/page.ts";
import type { TenantsDeps } from "../deps.ts";
import { viewKey, type ApiKey, type KeyView } from "./key.ts";
import type { ListKeys } from "./schema.ts";

/** Returns a key of the platform; of the scope's application if it has one. @throws AppError `not_found` */
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

/**
 * Lists the keys of the application, or of the platform for a session that names no application; newest first. A
 * restricted key sees only itself.
 * @throws AppError `invalid_cursor`
 */
export async function listKeys(
  services: TenantsDeps,
  { caller, platformId, applicationId }: PlatformScope,
  { limit, cursor }: ListKeys,
): Promise<Page<KeyView>> {
  const view = listViewOf(caller);
  const bound = { list: "keys", platformId, applicationId, ...boundToView(view) };
  const after = services.cursors.read(cursor, bound);
  const now = services.clock.now();
  if (view !== undefined) {
    const own = await services.keys.find(platformId, view.keyId);
    return { items: own === undefined ? [] : [viewKey(own, now)], nextCursor: null, limit };
  }
  const listed = await services.keys.list(platformId, applicationId, { after, limit });
  const makeCursor = (next: string) => services.cursors.make(next, bound);
  return toPage(listed, limit, makeCursor, (key) => viewKey(key, now));
}
