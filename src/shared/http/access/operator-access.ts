import { invalidCredentials, readCredential } from "../../callers/credential.ts";
import type { OperatorScope } from "../../callers/scope.ts";
import { operatorContract } from "./access-contract.ts";
import { denied, requestScope, type Access } from "./access.ts";

export type OperatorRole = "Admin" | "Operator";

/** Admits a token of the operators' identity provider with one of the roles; without roles, any valid token. */
export function operator(...roles: readonly OperatorRole[]): Access<OperatorScope> {
  return {
    name: roles.length === 0 ? "operator" : `operator(${roles.join(", ")})`,
    contract: operatorContract(roles),
    async resolve(request) {
      const credential = readCredential(request.headers);
      request.limits.present(credential);
      if (credential.kind === "api_key") throw invalidCredentials();
      const caller = await request.services.operators.verify(credential.text);
      await request.limits.admit(caller);
      if (roles.length > 0 && !roles.some((role) => caller.roles.includes(role)))
        throw denied(
          request,
          caller,
          "role_required",
          `This needs the role ${roles.join(" or ")}.`,
        );
      return { ...requestScope(request), caller };
    },
  };
}
