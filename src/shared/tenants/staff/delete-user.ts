import { recordAudit } from "../../audit/record.ts";
import type { SessionScope } from "../../callers/scope.ts";
import { AppError, notFound } from "../../runtime/errors.ts";
import type { TenantsDeps } from "../deps.ts";

/**
 * Removes a colleague, or the caller: their sessions and the grants they minted stop at once, and the e-mail is free.
 * @throws AppError `not_found`; `invalid_state` when nobody would be left
 */
export async function deleteUser(
  services: TenantsDeps,
  scope: SessionScope,
  userId: string,
): Promise<void> {
  const { platformId } = scope;
  const user = await services.users.find(platformId, userId);
  if (user === undefined) throw notFound();
  const outcome = await services.users.deleteUnlessLast(platformId, userId);
  const record = (outcome: "ok" | "denied") =>
    recordAudit(services, scope, {
      action: "user.deleted",
      target: { type: "user", id: userId },
      outcome,
    });
  switch (outcome) {
    case "absent":
      throw notFound();
    case "last":
      record("denied");
      throw new AppError("invalid_state", "The last user of a platform can't be removed.");
    case "deleted":
      record("ok");
      // Should this fail, the e-mail can be taken over all the same: its user is gone.
      await services.emails.release(user.email, userId);
  }
}
