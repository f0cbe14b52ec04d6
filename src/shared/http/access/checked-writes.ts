import { AccessCheck } from "../../callers/access-check.ts";
import type { PlatformScope } from "../../callers/scope.ts";
import { ownerRequired } from "../../callers/session-rules.ts";
import { AppError } from "../../runtime/errors.ts";
import { storedRows } from "../../people/people.ts";
import { ERROR_CATALOG } from "../../runtime/error-catalog.ts";
import type { Route, RouteCall } from "../route.ts";
import type { AccessRequest } from "./access.ts";

/**
 * Reports whether a route's requests write under a second check, as all do that may write for a customer. Accepting a
 * post compares the access version itself. An operator's access belongs to the identity provider and ends with the
 * token. A browser on the hosted page has no API credential, and a login proves its identity in the request.
 */
export function isCheckedWrite({ method, spec: { access } }: Route): boolean {
  const { credentials } = access.contract;
  const isCustomers = credentials.includes("apiKey") || credentials.includes("session");
  return isCustomers && method !== "GET" && access.onCachedRows !== "compared";
}

/**
 * Runs the verb of a route that writes under a second check, which the deciding operation makes. Without such an
 * operation, the check is made at the end, so that a caller whose access was taken away meanwhile gets a refusal.
 */
export async function checkedWrite(
  route: Route,
  request: AccessRequest,
  call: RouteCall<unknown, unknown, unknown, unknown>,
): Promise<unknown> {
  const { access, errors = [] } = route.spec;
  // Safe: the rules of customers make no other scopes.
  const { caller } = call.scope as PlatformScope;
  const { rows, services } = request;
  const { platformId } = caller;
  const check = new AccessCheck({
    platformId,
    // No version was read before the rows of a key that this process had not seen.
    version: rows.platformId === undefined ? undefined : rows.accessVersion,
    readVersion: () => services.access.partitions.readAccessVersion(platformId),
    async resolve() {
      try {
        const fresh = { ...request, rows: storedRows(services) };
        // Safe as above.
        const { caller: now } = (await access.resolve(fresh)) as PlatformScope;
        const wasOwner = caller.kind === "session" && caller.role === "owner";
        // The verb may have depended on the role.
        if (wasOwner && now.kind === "session" && now.role !== "owner") throw ownerRequired();
      } catch (error) {
        // When two owners demote each other, the later one gets this.
        const isDemotion = error instanceof AppError && error.code === "owner_required";
        throw isDemotion && errors.includes("invalid_state")
          ? new AppError(
              "invalid_state",
              "Your role was changed in the meantime: you are no longer an owner.",
            )
          : error;
      }
    },
  });
  try {
    return await check.run(async () => {
      let made: unknown;
      try {
        made = await route.spec.run(call);
      } catch (error) {
        // When a verb finds a row gone or changed, the cause may be the change that took the access away.
        const isRefusal = error instanceof AppError && ERROR_CATALOG[error.code].status < 500;
        if (isRefusal) await check.requireAccess();
        throw error;
      }
      await check.requireAccess();
      return made;
    });
  } finally {
    check.end();
  }
}
