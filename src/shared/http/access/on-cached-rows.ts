import { OutdatedAccess } from "../../core/core.ts";
import { isWellFormed, readCredential } from "../../callers/credential.ts";
import { AppError } from "../../runtime/errors.ts";
import { parseApiKey } from "../../runtime/secrets.ts";
import { pauseAfter } from "../../runtime/until-won.ts";
import { accessRows, CacheMiss, type AccessRows } from "../../tenants/tenants.ts";
import type { HttpDeps } from "../deps.ts";
import type { Access, AccessRequest } from "./access.ts";

/** More changes than come between the reads and the transaction of one request. */
const TRIES_MAX = 6;

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

/** Returns the cached rows of a platform, unless this process knows that its access version was raised since. */
function cachedRowsOf(services: HttpDeps, platformId: string): AccessRows | undefined {
  const { clock } = services;
  const { accessCache } = services.access;
  const { wallets } = services.billing;
  const cached = accessCache.of(platformId, wallets.lastAccessVersion(platformId), clock.now());
  if (cached === undefined) return undefined;
  const take = <Wanted>(name: string): Promise<Wanted> => {
    const found = cached.find(name);
    // Safe: each name stands for rows of one type.
    return found === undefined
      ? Promise.reject(new CacheMiss())
      : Promise.resolve(found.value as Wanted);
  };
  return accessRows(services.tenants, take, {
    areCached: true,
    platformId,
    accessVersion: cached.version,
  });
}

/** Returns rows that are read now and cached for later requests. The version is read before any of them. */
function readAndCached(services: HttpDeps, platformId: string, version: string): AccessRows {
  const { clock } = services;
  const { accessCache } = services.access;
  const { wallets } = services.billing;
  const read = async <Wanted>(name: string, find: () => Promise<Wanted>): Promise<Wanted> => {
    const readAt = clock.now();
    const value = await find();
    const isOwn = isOf(platformId, value);
    if (isOwn && wallets.lastAccessVersion(platformId) === version)
      accessCache.add(platformId, { version, name, value, readAt });
    return value;
  };
  return accessRows(services.tenants, read, {
    areCached: false,
    platformId,
    accessVersion: version,
  });
}

/** Returns whether there is something to cache, and nothing of it names another platform. */
function isOf(platformId: string, value: unknown): boolean {
  if (value === undefined) return false;
  return (Array.isArray(value) ? value : [value]).every((row: object) => {
    const named: unknown = Reflect.get(row, "platformId") ?? platformId;
    return named === platformId;
  });
}

/**
 * Returns the request to be checked on rows that are read for it, and cached. Rows of a caller unknown to this process
 * are not cached; an operation that compares the version then fails with `OutdatedAccess`, and is run again.
 */
async function onReadRows(access: Access<unknown>, request: AccessRequest): Promise<AccessRequest> {
  const { services } = request;
  const platformId = await platformOf(request);
  if (platformId === undefined) return request;
  const { wallets } = services.billing;
  let version =
    wallets.lastAccessVersion(platformId) ?? (await wallets.readAccessVersion(platformId));
  // An absent version matches nothing, so the wallet has to have one.
  if (version === "" && access.onCachedRows === "compared")
    version = await wallets.raiseAccess(platformId);
  return { ...request, rows: readAndCached(services, platformId, version) };
}

/** Returns whether an error on cached rows leads to another try on rows that are read: outages and limits do not. */
function isAskedAgain(error: unknown): boolean {
  if (error instanceof OutdatedAccess || error instanceof CacheMiss) return true;
  if (!(error instanceof AppError)) return false;
  return error.code !== "service_unavailable" && error.code !== "rate_limited";
}

type Run<Made> = (request: AccessRequest) => Promise<Made>;

/** Runs the call on cached rows. Returns undefined when it has to be run on rows that are read. */
async function tryCached<Made>(
  access: Access<unknown>,
  request: AccessRequest,
  run: Run<Made>,
): Promise<{ readonly made: Made } | undefined> {
  const { services } = request;
  const platformId = await platformOf(request);
  const rows = platformId === undefined ? undefined : cachedRowsOf(services, platformId);
  if (platformId === undefined || rows === undefined) return undefined;
  const versionNow =
    access.onCachedRows === "in_parallel"
      ? services.billing.wallets.readAccessVersion(platformId)
      : rows.accessVersion;
  const [made, version] = await Promise.allSettled([run({ ...request, rows }), versionNow]);
  if (made.status === "rejected") {
    if (isAskedAgain(made.reason)) return undefined;
    throw made.reason;
  }
  if (version.status === "rejected") throw version.reason;
  return version.value === rows.accessVersion ? { made: made.value } : undefined;
}

/**
 * Runs a call on rows that are cached from earlier requests, if they allow it and are as new as the last change that was
 * answered; else on rows that are read for it. So only these refuse anything. The call may be run several times, and
 * has to compare the access version itself unless the rule says `in_parallel`.
 */
export async function onCachedRows<Made>(
  access: Access<unknown>,
  request: AccessRequest,
  run: Run<Made>,
): Promise<Made> {
  const answered = await tryCached(access, request, run);
  if (answered !== undefined) return answered.made;
  for (let tries = 1; ; tries += 1) {
    try {
      return await run(await onReadRows(access, request));
    } catch (error) {
      if (!(error instanceof OutdatedAccess) || tries === TRIES_MAX) throw error;
      // A request that unlinks several accounts raises the version at each.
      await pauseAfter(tries);
    }
  }
}
