import type { PlatformScope } from "../../callers/scope.ts";
import { limitReached, notFound, serviceUnavailable } from "../../runtime/errors.ts";
import type { Audit } from "../../audit/audit.ts";
import type { TenantsDeps } from "../deps.ts";
import type { Descendant, KeyStore } from "./key-store.ts";
import { keyStatus, viewKey, type ApiKey, type KeyView } from "./key.ts";
import type { EndKey, RenameKey, ListKeys } from "./schema.ts";
import { boundToView, listViewOf } from "../../callers/caller.ts";
import { toPage, type Page } from "../../runtime/page.ts";

/** Returns a key of the platform, or of the scope's application if it has one. @throws AppError `not_found` */
async function getKey(
  keys: KeyStore,
  { platformId, applicationId }: PlatformScope,
  keyId: string,
): Promise<ApiKey> {
  const key = await keys.find(platformId, keyId);
  if (key === undefined) throw notFound();
  if (applicationId !== null && key.applicationId !== applicationId) throw notFound();
  return key;
}

/**
 * Lists the keys of the application, newest first. A session that names no application lists those of the platform, and
 * a restricted key only itself.
 * @throws AppError `invalid_cursor`
 */
export async function listKeys(
  deps: TenantsDeps,
  { caller, platformId, applicationId }: PlatformScope,
  { limit, cursor }: ListKeys,
): Promise<Page<KeyView>> {
  const view = listViewOf(caller);
  const bound = { list: "keys", platformId, applicationId, ...boundToView(view) };
  const after = deps.cursors.read(cursor, bound);
  const now = deps.clock.now();
  if (view !== undefined) {
    const own = await deps.stores.keys.find(platformId, view.keyId);
    return { items: own === undefined ? [] : [viewKey(own, now)], nextCursor: null, limit };
  }
  const listed = await deps.stores.keys.list(platformId, applicationId, { after, limit });
  const makeCursor = (next: string) => deps.cursors.make(next, bound);
  return toPage(listed, limit, makeCursor, (key) => viewKey(key, now));
}

/** Renames a key. @throws AppError `not_found` */
export async function renameKey(
  deps: TenantsDeps,
  scope: PlatformScope,
  { keyId, name }: RenameKey & { readonly keyId: string },
): Promise<KeyView> {
  const key = await getKey(deps.stores.keys, scope, keyId);
  const renamed = await deps.stores.keys.rename(key, name);
  if (renamed === undefined) throw notFound();
  deps.audit.record(scope, {
    action: "api_key.renamed",
    target: { type: "api_key", id: keyId },
    applicationId: key.applicationId,
  });
  return viewKey(renamed, deps.clock.now());
}

/** A key that was made concurrently is found by the next round. By then its maker is revoked. */
const ROUNDS_MAX = 10;
const DELETED_MAX = 1_000;

function recordEach(
  audit: Audit,
  scope: PlatformScope,
  action: string,
  ended: readonly Descendant[],
): void {
  for (const { id, applicationId } of ended)
    audit.record(scope, { action, target: { type: "api_key", id }, applicationId });
}

/**
 * Revokes the keys that the key made, and those that these made: at most as many as an application can have in use. The
 * key itself must be revoked before, so that it makes no further ones. May be repeated.
 */
async function revokeDescendants(
  deps: Pick<TenantsDeps, "clock" | "audit" | "stores">,
  scope: PlatformScope,
  key: ApiKey,
): Promise<readonly Descendant[]> {
  for (let round = 1; round <= ROUNDS_MAX; round += 1) {
    const found = await deps.stores.keys.descendants(key);
    const now = deps.clock.now();
    const live = found.filter((each) => keyStatus(each, now) === "active");
    if (live.length === 0) return found;
    await deps.stores.keys.revokeAll(live);
    recordEach(deps.audit, scope, "api_key.revoked", live);
  }
  throw serviceUnavailable();
}

/**
 * Revokes and deletes the keys that descend from the key.
 * @throws AppError `limit_reached` when one request can't delete them all; they are revoked anyway
 */
async function deleteDescendants(
  deps: Pick<TenantsDeps, "clock" | "audit" | "stores">,
  scope: PlatformScope,
  key: ApiKey,
): Promise<void> {
  const found = await revokeDescendants(deps, scope, key);
  const deleted = found.slice(0, DELETED_MAX);
  await deps.stores.keys.purgeAll(deleted);
  recordEach(deps.audit, scope, "api_key.deleted", deleted);
  if (found.length > deleted.length)
    throw limitReached(
      `All keys that descend from it are revoked, and ${DELETED_MAX} of them deleted. Repeat the request for the rest.`,
    );
}

/**
 * Revokes a key for good, and its descendants if requested. It stays listed. For a revoked key, only its descendants
 * change.
 * @throws AppError `not_found`
 */
export async function revokeKey(
  deps: TenantsDeps,
  scope: PlatformScope,
  { keyId, descendants }: EndKey & { readonly keyId: string },
): Promise<void> {
  const key = await getKey(deps.stores.keys, scope, keyId);
  await deps.stores.keys.revoke(key);
  deps.audit.record(scope, {
    action: "api_key.revoked",
    target: { type: "api_key", id: keyId },
    applicationId: key.applicationId,
  });
  if (descendants) await revokeDescendants(deps, scope, key);
}

/**
 * Revokes a key and removes everything stored about it, and its descendants if requested. The key itself is removed
 * last, so that the request can be repeated.
 * @throws AppError `not_found`, `limit_reached`
 */
export async function deleteKey(
  deps: TenantsDeps,
  scope: PlatformScope,
  { keyId, descendants }: EndKey & { readonly keyId: string },
): Promise<void> {
  const key = await getKey(deps.stores.keys, scope, keyId);
  if (descendants) {
    await deps.stores.keys.revoke(key);
    await deleteDescendants(deps, scope, key);
  }
  await deps.stores.keys.purge(key);
  deps.audit.record(scope, {
    action: "api_key.deleted",
    target: { type: "api_key", id: keyId },
    applicationId: key.applicationId,
  });
}
