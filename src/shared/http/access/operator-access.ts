import { invalidCredentials, readCredential } from "../../callers/credential.ts";
import type { OperatorScope } from "../../callers/scope.ts";
import { AppError, boundedText } from "../../runtime/errors.ts";
import { recordRefusal, requestScope, type Access } from "./access.ts";
import { operatorContract } from "./access-contract.ts";

type OperatorRole = "Admin" | "Operator";

/** Admits a token of the operators' identity provider with one of the roles, or without roles any valid token. */
export function operator(...roles: readonly OperatorRole[]): Access<OperatorScope> {
  return {
    name: roles.length === 0 ? "operator" : `operator(${roles.join(", ")})`,
    contract: operatorContract(roles),
    async resolve(request) {
      const credential = readCredential(request.headers);
      request.limits.present(credential);
      if (credential.kind === "api_key")
        throw invalidCredentials({
          check: "kind",
          expected: "a token of the operators' issuer",
          found: "an API key",
        });
      const caller = await request.services.access.operators.verify(credential.text);
      await request.limits.admit(caller);
      if (roles.length > 0 && !roles.some((role) => caller.roles.includes(role))) {
        const expected = roles.join(" or ");
        const found = boundedText(caller.roles.join(", ") || "(none)");
        const refusal = new AppError("role_required", `This needs the role ${expected}.`, {
          failedCheck: { check: "role", expected, found },
        });
        throw recordRefusal(request, caller, refusal);
      }
      return { ...requestScope(request), caller };
    },
  };
}
