import { isDecidedAgain } from "../core/core.ts";
import { serviceUnavailable } from "../runtime/errors.ts";
import { noteWork, type WorkFields } from "../runtime/telemetry/work-context.ts";
import { pauseAfter } from "../runtime/until-won.ts";
import type { AccessRequest } from "./access/access.ts";
import { cachedRows, readRows } from "./access/cached-rows.ts";
import { checkedWrite, isCheckedWrite, versionBefore } from "./access/checked-writes.ts";
import { parseInput, type Incoming } from "./parse-input.ts";
import type { Route } from "./route.ts";

/** More changes than come between the reads and the transaction of one request. */
const TRIES_MAX = 6;

/**
 * Runs a route and returns what its verb made. Where the access rule allows it, the first try is on rows that are cached
 * from earlier requests. They can only allow: a request that they refuse, or that was decided on rows older than the last
 * change that was answered, runs again on rows that are read for it.
 */
export async function runRoute(
  route: Route,
  incoming: Incoming,
  request: AccessRequest,
): Promise<unknown> {
  const { access } = route.spec;
  if (access.onCachedRows === undefined) return await runOnce(route, incoming, request);
  // A body can be read once, and the route may run several times.
  let read: Promise<Uint8Array> | undefined;
  const rereadable = { ...incoming, body: () => (read ??= incoming.body()) };
  for (let tries = 0; ; tries += 1) {
    const rows = tries === 0 ? await cachedRows(request) : await readRows(access, request);
    if (rows !== undefined) {
      const result = await tryOn(route, rereadable, { ...request, rows });
      if (result !== undefined) return result.made;
    }
    if (tries === TRIES_MAX) throw serviceUnavailable();
    // A request that unlinks several accounts raises the version at each.
    if (tries > 0) await pauseAfter(tries);
  }
}

/** Runs a route once; undefined when it has to be decided on newer rows. @throws AppError every refusal that counts */
async function tryOn(
  route: Route,
  incoming: Incoming,
  request: AccessRequest,
): Promise<{ readonly made: unknown } | undefined> {
  const { wallets } = request.services.billing;
  const { areCached, accessVersion, platformId } = request.rows;
  const isInParallel = areCached && route.spec.access.onCachedRows === "in_parallel";
  try {
    const [made, versionNow] = await Promise.all([
      runOnce(route, incoming, request),
      isInParallel && platformId !== undefined
        ? wallets.readAccessVersion(platformId)
        : accessVersion,
    ]);
    return versionNow === accessVersion ? { made } : undefined;
  } catch (error) {
    if (isDecidedAgain(error, areCached)) return undefined;
    throw error;
  }
}

/** Resolves the scope by the access rule, parses the input, and runs the verb. */
async function runOnce(route: Route, incoming: Incoming, request: AccessRequest): Promise<unknown> {
  const { spec } = route;
  const { services, headers, params } = request;
  const isChecked = isCheckedWrite(route);
  const version = isChecked ? await versionBefore(request) : undefined;
  const scope = await spec.access.resolve(request);
  noteWork(idsOfScope(scope));
  const { body, query } = await parseInput(route, incoming, { services, scope, params });
  const run = async () => await spec.run({ services, scope, params, body, query, headers });
  return isChecked ? await checkedWrite({ route, request, scope, version }, run) : await run();
}

const SHOWN = ["platformId", "applicationId", "profileId"] as const;

function idsOfScope(scope: unknown): WorkFields {
  if (typeof scope !== "object" || scope === null) return {};
  const found = SHOWN.flatMap((name) => {
    const value: unknown = Reflect.get(scope, name);
    return typeof value === "string" ? [[name, value] as const] : [];
  });
  return Object.fromEntries(found);
}
