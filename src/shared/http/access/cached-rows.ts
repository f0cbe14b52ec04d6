import { OutdatedAccess } from "../../core/core.ts";
import { isWellFormed, readCredential } from "../../callers/credential.ts";
import { AppError } from "../../runtime/errors.ts";
import { parseApiKey } from "../../runtime/secrets.ts";
import { accessRows, type AccessRows } from "../../tenants/tenants.ts";
import type { Access, AccessRequest } from "./access.ts";

/** Returns the platform that a credential names; undefined when this process can't tell without reading. */
export async function platformOf({
  services,
  headers,
}: AccessRequest): Promise<string | undefined> {
  try {
    const credential = readCredential(headers);
    if (!isWellFormed(credential)) return undefined;
    const { kind, text } = credential;
    if (kind === "token") return (await services.tenants.secrets.sessions.verify(text)).platformId;
    return services.tenants.stores.keys.bindingOf(parseApiKey(text)?.keyId ?? "")?.platformId;
  } catch (error) {
    // The access rule refuses it.
    if (error instanceof AppError) return undefined;
    throw error;
  }
}

/** Returns the access version that this process knows, or else the stored one. */
export async function accessVersionOf(
  { billing: { wallets } }: AccessRequest["services"],
  platformId: string,
): Promise<string> {
  return wallets.lastAccessVersion(platformId) ?? (await wallets.readAccessVersion(platformId));
}

/**
 * Returns the cached rows of the caller's platform. Undefined when there are none, or when this process knows that the
 * access version was raised since. A row that is not among them is `OutdatedAccess`: the request then runs on read rows.
 */
export async function cachedRows(request: AccessRequest): Promise<AccessRows | undefined> {
  const platformId = await platformOf(request);
  if (platformId === undefined) return undefined;
  const { access, billing, clock, tenants } = request.services;
  const version = billing.wallets.lastAccessVersion(platformId);
  const cached = access.accessCache.of(platformId, version, clock.now());
  if (cached === undefined) return undefined;
  const take = <Wanted>(name: string): Promise<Wanted> => {
    const found = cached.find(name);
    // Safe: each name stands for rows of one type.
    return found === undefined
      ? Promise.reject(new OutdatedAccess())
      : Promise.resolve(found.value as Wanted);
  };
  return accessRows(tenants, take, { areCached: true, platformId, accessVersion: cached.version });
}

/**
 * Returns rows that are read for this request, and cached for later ones. The version is read before any of them. Rows
 * of a caller unknown to this process are not cached; an operation that compares the version then fails with
 * `OutdatedAccess`, and runs again.
 */
export async function readRows(
  { onCachedRows }: Access<unknown>,
  request: AccessRequest,
): Promise<AccessRows> {
  const platformId = await platformOf(request);
  if (platformId === undefined) return request.rows;
  const { access, billing, clock, tenants } = request.services;
  const { wallets } = billing;
  let version = await accessVersionOf(request.services, platformId);
  // An absent version matches nothing, so the wallet has to have one.
  if (version === "" && onCachedRows === "compared")
    version = await wallets.raiseAccess(platformId);
  const read = async <Wanted>(name: string, find: () => Promise<Wanted>): Promise<Wanted> => {
    const readAt = clock.now();
    const value = await find();
    if (isOf(platformId, value) && wallets.lastAccessVersion(platformId) === version)
      access.accessCache.add(platformId, { version, name, value, readAt });
    return value;
  };
  return accessRows(tenants, read, { areCached: false, platformId, accessVersion: version });
}

/** Returns whether there is something to cache, and nothing of it names another platform. */
function isOf(platformId: string, value: unknown): boolean {
  if (value === undefined) return false;
  return (Array.isArray(value) ? value : [value]).every((row: object) => {
    const named: unknown = Reflect.get(row, "platformId") ?? platformId;
    return named === platformId;
  });
}
