import type { OperatorScope } from "../../callers/scope.ts";
import { notFound } from "../../runtime/errors.ts";
import type { PeopleDeps } from "../deps.ts";
import { makeLink } from "../links/links.ts";
import type { ResetLink } from "../links/schema.ts";
import { writeWithOwnersNotice } from "../../mail/mail.ts";

/**
 * Makes a link that sets a user's password, for an operator to hand over. The user and the platform's owners are
 * notified by mail before the link exists.
 * @throws AppError `not_found`
 */
export async function makeResetLink(
  deps: PeopleDeps,
  scope: OperatorScope,
  {
    platformId,
    userId,
    removeTotp,
  }: ResetLink & { readonly platformId: string; readonly userId: string },
): Promise<{ readonly url: string; readonly expiresAt: string }> {
  const { mail, stores } = deps;
  const user = await stores.users.find(platformId, userId);
  if (user === undefined) throw notFound();
  const notice = {
    kind: "operatorReset",
    values: () => ({ email: user.email }),
    also: user,
  } as const;
  await writeWithOwnersNotice(deps.mail, platformId, notice, (rows) =>
    mail.insertMails(platformId, rows),
  );
  const { url, expiresAt } = await makeLink(deps, "operator_reset", user, {
    removesTotp: removeTotp,
  });
  const target = { type: "user", id: userId };
  deps.audit.record(scope, { action: "user.reset_link_made", target, platformId });
  return { url, expiresAt: expiresAt.toISOString() };
}
