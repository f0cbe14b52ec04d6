import { isDecidedAgain, OutdatedAccess, requireSameVersion } from "../partition/partition.ts";
import { isWellFormed, readCredential } from "../callers/credential.ts";
import { AppError, serviceUnavailable } from "../runtime/errors.ts";
import { noteWork } from "../runtime/telemetry/work-context.ts";
import { pauseAfter } from "../runtime/retry-lost-races.ts";
import { accessRows, type AccessRows } from "../people/people.ts";
import { platformOfKey } from "../tenants/tenants.ts";
import { identify, type Access, type AccessRequest } from "./access/access.ts";
import { checkedWrite, isCheckedWrite } from "./access/checked-writes.ts";
import { parseInput, type Incoming } from "./parse-input.ts";
import type { Route } from "./route.ts";

/** The ids of a scope that log lines show. */
const SHOWN: ReadonlySet<string> = new Set(["platformId", "applicationId", "profileId"]);

/** More changes than can happen between the reads and the transaction of one request. */
const TRIES_MAX = 6;

/**
 * Runs a route and returns what its verb made: resolves the scope by the access rule, parses the input, runs the verb. Where the access rule allows it, the first try is on rows that are cached
 * from earlier requests. They can only allow: a request that they refuse, or that was decided on rows older than the last
 * change that was answered, runs again on rows that are read for it. Other requests run once.
 */
export async function runRoute(
  route: Route,
  incoming: Incoming,
  request: AccessRequest,
): Promise<unknown> {
  const { access } = route.spec;
  const { services, headers, params } = request;
  const { onCachedRows } = access;
  const isChecked = isCheckedWrite(route);
  // A body can be read only once, but the route may run several times.
  let read: Promise<Uint8Array> | undefined;
  const rereadable = { ...incoming, body: () => (read ??= incoming.body()) };
  for (let tries = 0; ; tries += 1) {
    let rows: AccessRows | undefined = request.rows;
    if (onCachedRows !== undefined && tries === 0) rows = await cachedRows(request);
    else if (onCachedRows !== undefined || isChecked) rows = await readRows(access, request);
    try {
      if (rows !== undefined) {
        const scope = await access.resolve({ ...request, rows });
        const named = Object.entries(scope ?? {}).filter(([name]) => SHOWN.has(name));
        noteWork(Object.fromEntries(named.filter(([, id]) => typeof id === "string")));
        const { body, query } = await parseInput(route, rereadable, { services, scope, params });
        const call = { services, scope, params, body, query, headers };
        if (isChecked) return await checkedWrite(route, { ...request, rows }, call);
        const isCompared = rows.areCached && onCachedRows === "in_parallel";
        const [made] = await Promise.all([
          route.spec.run(call),
          isCompared && requireSameVersion(services.access.partitions, rows),
        ]);
        return made;
      }
    } catch (error) {
      if (onCachedRows === undefined || !isDecidedAgain(error, rows?.areCached === true))
        throw error;
    }
    if (tries === TRIES_MAX) throw serviceUnavailable();
    // Other requests may raise the version all the time. One that unlinks several accounts does so for each.
    if (tries > 0) await pauseAfter(tries);
  }
}

/** Returns the platform that a credential names, or undefined when this process can't tell without a read. */
async function platformOf({ services, headers }: AccessRequest): Promise<string | undefined> {
  try {
    const credential = readCredential(headers);
    if (!isWellFormed(credential)) return undefined;
    const { kind, text } = credential;
    if (kind === "token") return (await services.people.secrets.sessions.verify(text)).platformId;
    return platformOfKey(services.tenants, text);
  } catch (error) {
    // The access rule refuses it.
    if (error instanceof AppError) return undefined;
    throw error;
  }
}

/**
 * Returns the cached rows of the caller's platform. Undefined when there are none, or when this process knows that the
 * access version was raised since. Asking for another row throws `OutdatedAccess`, and the request runs on stored rows.
 */
async function cachedRows(request: AccessRequest): Promise<AccessRows | undefined> {
  const platformId = await platformOf(request);
  if (platformId === undefined) return undefined;
  const { access, clock } = request.services;
  const version = access.partitions.lastAccessVersion(platformId);
  const cached = access.accessCache.of(platformId, version, clock.now());
  if (cached === undefined) return undefined;
  const take = <Wanted>(name: string): Promise<Wanted> => {
    const found = cached.find(name);
    // Safe: each name stands for rows of one type.
    return found === undefined
      ? Promise.reject(new OutdatedAccess())
      : Promise.resolve(found.value as Wanted);
  };
  const about = { areCached: true, platformId, accessVersion: cached.version };
  return accessRows(request.services, take, about);
}

/**
 * Returns rows that are read for this request, and cached for later ones. The version is read before any of them, and so
 * the platform is found first: that of a key which this process has not seen, by identifying the caller. A verb that
 * compares no version does without, and such rows are not cached.
 * @throws AppError what the access rule refuses with
 */
async function readRows(
  { onCachedRows }: Access<unknown>,
  request: AccessRequest,
): Promise<AccessRows> {
  const known = await platformOf(request);
  if (known === undefined && onCachedRows !== "compared") return request.rows;
  const platformId = known ?? (await identify(request)).caller.platformId;
  const { access, clock } = request.services;
  const { partitions } = access;
  let version =
    partitions.lastAccessVersion(platformId) ?? (await partitions.readAccessVersion(platformId));
  // An absent version matches nothing, so the partition must have one.
  if (version === "" && onCachedRows === "compared")
    version = await partitions.raiseAccess(platformId);
  const read = async <Wanted>(name: string, find: () => Promise<Wanted>): Promise<Wanted> => {
    const readAt = clock.now();
    const value = await find();
    const rows: readonly object[] = Array.isArray(value) ? value : value ? [value] : [];
    // A row without a platform's id is of the platform in whose partition it was found.
    const isOfPlatform = rows.every(
      (row) => (Reflect.get(row, "platformId") ?? platformId) === platformId,
    );
    const isCurrent = partitions.lastAccessVersion(platformId) === version;
    if (value !== undefined && isOfPlatform && isCurrent)
      access.accessCache.add(platformId, { version, name, value, readAt });
    return value;
  };
  const about = { areCached: false, platformId, accessVersion: version };
  return accessRows(request.services, read, about);
}
