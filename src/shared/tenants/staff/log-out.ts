import { recordAudit } from "../../audit/record.ts";
import type { SessionScope } from "../../callers/scope.ts";
import type { TenantsDeps } from "../deps.ts";

/** Ends every session of the user that was issued so far. */
export async function logOut(services: TenantsDeps, scope: SessionScope): Promise<void> {
  const { userId, platformId } = scope.caller;
  await services.users.update({ platformId, id: userId }, ({ sessionVersion }) => ({
    sessionVersion: sessionVersion + 1,
    keptSessionId: null,
  }));
  recordAudit(services, scope, {
    action: "user.logged_out",
    target: { type: "user", id: userId },
  });
}
