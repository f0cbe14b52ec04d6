import { AccessCheck } from "../../callers/access-check.ts";
import type { PlatformScope } from "../../callers/scope.ts";
import { AppError } from "../../runtime/errors.ts";
import { storedRows } from "../../tenants/tenants.ts";
import { ERROR_STATUS } from "../error-status.ts";
import type { Route } from "../route.ts";
import type { AccessRequest } from "./access.ts";
import { platformOf } from "./on-cached-rows.ts";

/**
 * Returns whether a route's requests are checked again after they wrote: all that may write for a customer. Accepting a
 * post compares the access version itself. An operator's access is the identity provider's to take away, and ends with
 * the token; a browser on the hosted page has no credential of the API, and a log-in proves its identity in the request.
 */
export function isCheckedAgain({ method, spec: { access } }: Route): boolean {
  const { credentials } = access.contract;
  const isCustomers = credentials.includes("apiKey") || credentials.includes("session");
  return isCustomers && method !== "GET" && access.onCachedRows !== "compared";
}

/** Returns the access version before the caller's rows are read; undefined if this process can't tell the platform. */
export async function versionBefore(request: AccessRequest): Promise<string | undefined> {
  const platformId = await platformOf(request);
  if (platformId === undefined) return undefined;
  const { wallets } = request.services.billing;
  return wallets.lastAccessVersion(platformId) ?? (await wallets.readAccessVersion(platformId));
}

/** What was checked before the request wrote anything. */
interface Checked {
  readonly route: Route;
  readonly request: AccessRequest;
  readonly scope: unknown;
  /** From before the caller's rows were read. */
  readonly version: string | undefined;
}

/**
 * Runs the part of a request that writes under a second check, which the operation makes that decides. It is made at the
 * end of a request without one, so that a caller whose access was taken away meanwhile is told so.
 */
export async function checkedWrite<Made>(
  checked: Checked,
  write: () => Promise<Made>,
): Promise<Made> {
  const { route, request, version } = checked;
  // Safe: the rules of customers make no other scopes.
  const { caller } = checked.scope as PlatformScope;
  const { services } = request;
  const { platformId } = caller;
  const checkAgain = async () => {
    const versionNow = await services.billing.wallets.readAccessVersion(platformId);
    await route.spec.access.resolve({ ...request, rows: storedRows(services.tenants) });
    return versionNow;
  };
  const check = new AccessCheck(platformId, version, checkAgain);
  const checkAccess = () => services.billing.wallets.checkAccess(platformId);
  try {
    return await check.run(async () => {
      // A verb that finds a row gone or changed may have met what took the access away.
      const made = await write().catch(async (error: unknown) => {
        if (isRefusal(error)) await checkAccess();
        throw error;
      });
      await checkAccess();
      return made;
    });
  } finally {
    check.end();
  }
}

function isRefusal(error: unknown): boolean {
  return error instanceof AppError && ERROR_STATUS[error.code] < 500;
}
