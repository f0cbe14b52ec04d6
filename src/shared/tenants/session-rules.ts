import type { SessionCaller } from "../callers/caller.ts";
import type { SessionScope } from "../callers/scope.ts";
import { confirmationRequired, isConfirmed, ownerRequired } from "../callers/session-rules.ts";
import type { AppError } from "../runtime/errors.ts";
import type { Audit } from "../audit/audit.ts";
import type { TenantsDeps } from "./deps.ts";

const isOwner = ({ role }: SessionCaller) => role === "owner";

function auditedDenial(audit: Audit, scope: SessionScope, error: AppError): AppError {
  audit.record(scope, { action: `access.${error.code}`, outcome: "denied" });
  return error;
}

/** Refuses what only an owner may do, if that depends on the request. @throws AppError `owner_required` */
export function requireOwner(audit: Audit, scope: SessionScope): void {
  if (!isOwner(scope.caller)) throw auditedDenial(audit, scope, ownerRequired());
}

/** Refuses what needs a fresh confirmation, if that depends on the request. @throws AppError `confirmation_required` */
export function requireConfirmed(
  deps: Pick<TenantsDeps, "clock" | "audit">,
  scope: SessionScope,
): void {
  if (!isConfirmed(scope.caller, deps.clock.now()))
    throw auditedDenial(deps.audit, scope, confirmationRequired());
}
