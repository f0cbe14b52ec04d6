import type { UserRole } from "../callers/caller.ts";
import type { PlatformScope } from "../callers/scope.ts";
import type { ApplicationSummary, PlatformAccount } from "../tenants/tenants.ts";
import type { PeopleDeps } from "./deps.ts";
import { viewUser, type UserView } from "./staff/user.ts";

/** The caller's platform, and the caller. */
export interface Me extends PlatformAccount {
  readonly application: ApplicationSummary | null;
  readonly auth: {
    readonly kind: "api_key" | "session";
    readonly apiKeyId: string | null;
    readonly userId: string | null;
    readonly applicationId: string | null;
    /** Present for sessions, like the next field. */
    readonly role?: UserRole | undefined;
    readonly confirmedUntil?: string | null | undefined;
  };
  readonly user?: UserView | undefined;
}

/** Returns the caller's platform, with the counts of the application that the key or the header names. */
export async function getMe(deps: PeopleDeps, scope: PlatformScope): Promise<Me> {
  const { caller, platformId, applicationId } = scope;
  const [account, user] = await Promise.all([
    deps.tenants.readAccount(platformId, applicationId),
    caller.kind === "session" ? deps.stores.users.find(platformId, caller.userId) : undefined,
  ]);
  return {
    ...account,
    ...(user === undefined ? {} : { user: viewUser(user) }),
    application: account.applications.find(({ id }) => id === applicationId) ?? null,
    auth: {
      kind: caller.kind,
      apiKeyId: caller.kind === "api_key" ? caller.keyId : null,
      userId: caller.kind === "session" ? caller.userId : null,
      applicationId,
      ...(caller.kind === "session"
        ? { role: caller.role, confirmedUntil: caller.confirmedUntil }
        : {}),
    },
  };
}
