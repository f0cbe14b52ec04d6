import { AccessCheck } from "../../callers/access-check.ts";
import type { Caller } from "../../callers/caller.ts";
import type { PlatformScope } from "../../callers/scope.ts";
import { ownerRequired } from "../../callers/session-rules.ts";
import { AppError } from "../../runtime/errors.ts";
import { storedRows } from "../../tenants/tenants.ts";
import { ERROR_CATALOG } from "../../runtime/error-catalog.ts";
import type { Route } from "../route.ts";
import type { AccessRequest } from "./access.ts";

/**
 * Reports whether a route's requests write under a second check, as all do that may write for a customer. Accepting a
 * post compares the access version itself. An operator's access belongs to the identity provider and ends with the
 * token. A browser on the hosted page has no API credential, and a log-in proves its identity in the request.
 */
export function isCheckedWrite({ method, spec: { access } }: Route): boolean {
  const { credentials } = access.contract;
  const isCustomers = credentials.includes("apiKey") || credentials.includes("session");
  return isCustomers && method !== "GET" && access.onCachedRows !== "compared";
}

/**
 * Runs the part of a request that writes under a second check, which the deciding operation makes. Without such an
 * operation, the check is made at the end, so that a caller whose access was taken away meanwhile gets a refusal.
 */
export async function checkedWrite<Made>(
  route: Route,
  request: AccessRequest,
  scope: unknown,
  write: () => Promise<Made>,
): Promise<Made> {
  // Safe: the rules of customers make no other scopes.
  const { caller } = scope as PlatformScope;
  const { rows, services } = request;
  const { platformId } = caller;
  const check = new AccessCheck({
    platformId,
    // No version was read before the rows of a key that this process had not seen.
    version: rows.platformId === undefined ? undefined : rows.accessVersion,
    readVersion: () => services.access.partitions.readAccessVersion(platformId),
    async resolve() {
      try {
        const fresh = { ...request, rows: storedRows(services.tenants) };
        // Safe as above. The verb may have depended on the role.
        requireSameRole(caller, ((await route.spec.access.resolve(fresh)) as PlatformScope).caller);
      } catch (error) {
        throw isDemotion(error) ? demoted(route) : error;
      }
    },
  });
  try {
    return await check.run(async () => {
      // When a verb finds a row gone or changed, the cause may be the change that took the access away.
      const made = await write().catch(async (error: unknown) => {
        if (isRefusal(error)) await check.requireAccess();
        throw error;
      });
      await check.requireAccess();
      return made;
    });
  } finally {
    check.end();
  }
}

/** Refuses a request of a user whose role was changed while it ran. @throws AppError `owner_required` */
function requireSameRole(before: Caller, now: Caller): void {
  if (before.kind !== "session" || now.kind !== "session") return;
  if (before.role === "owner" && now.role !== "owner") throw ownerRequired();
}

const isDemotion = (error: unknown) => error instanceof AppError && error.code === "owner_required";

/**
 * Makes the refusal of an owner who was demoted meanwhile. When two owners demote each other, the later one gets it.
 */
function demoted({ spec: { errors = [] } }: Route): AppError {
  if (!errors.includes("invalid_state")) return ownerRequired();
  return new AppError(
    "invalid_state",
    "Your role was changed in the meantime: you are no longer an owner.",
  );
}

function isRefusal(error: unknown): boolean {
  return error instanceof AppError && ERROR_CATALOG[error.code].status < 500;
}
