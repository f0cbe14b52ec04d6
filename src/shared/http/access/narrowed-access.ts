import type { PlatformScope } from "../../callers/scope.ts";
import { confirmationRequired, isConfirmed, ownerRequired } from "../../callers/session-rules.ts";
import { recordRefusal, type Access } from "./access.ts";

/** Narrows a rule: of the sessions, it admits only those of owners. Keys are admitted as before. */
export function ofOwner<Scope extends PlatformScope>(access: Access<Scope>): Access<Scope> {
  const { callers, errors } = access.contract;
  return {
    ...access,
    name: `ofOwner(${access.name})`,
    contract: {
      ...access.contract,
      callers: callers.replace("a session", "an owner's session"),
      errors: [...errors, "owner_required"],
    },
    async resolve(request) {
      const scope = await access.resolve(request);
      const { caller } = scope;
      if (caller.kind === "session" && caller.role !== "owner")
        throw recordRefusal(request, caller, ownerRequired());
      return scope;
    },
  };
}

/** Narrows a rule: of the sessions, it admits only those whose user gave the password within the last ten minutes. */
export function confirmed<Scope extends PlatformScope>(access: Access<Scope>): Access<Scope> {
  const { callers, errors } = access.contract;
  return {
    ...access,
    name: `confirmed(${access.name})`,
    contract: {
      ...access.contract,
      callers: `${callers} (freshly confirmed)`,
      errors: [...errors, "confirmation_required"],
    },
    async resolve(request) {
      const scope = await access.resolve(request);
      const { caller } = scope;
      if (caller.kind === "session" && !isConfirmed(caller, request.services.clock.now()))
        throw recordRefusal(request, caller, confirmationRequired());
      return scope;
    },
  };
}
