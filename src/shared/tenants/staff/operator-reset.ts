import type { OperatorScope } from "../../callers/scope.ts";
import { postMail } from "../../mail/mail.ts";
import { notFound } from "../../runtime/errors.ts";
import type { TenantsDeps } from "../deps.ts";
import { makeLink } from "../links/links.ts";
import type { ResetLink } from "../links/schema.ts";

/** As many of a platform's users as are told. */
const TOLD_MAX = 100;

/**
 * Makes a link that sets a user's password, for an operator to hand over. The user and the platform's other staff are
 * told by mail.
 * @throws AppError `not_found`
 */
export async function makeResetLink(
  services: TenantsDeps,
  scope: OperatorScope,
  {
    platformId,
    userId,
    removeTotp,
  }: ResetLink & { readonly platformId: string; readonly userId: string },
): Promise<{ readonly url: string; readonly expiresAt: string }> {
  const { mail, stores } = services;
  const user = await stores.users.find(platformId, userId);
  if (user === undefined) throw notFound();
  const { items: staff } = await stores.users.list(platformId, undefined, TOLD_MAX);
  for (const { email: to, locale } of staff) {
    const told = { kind: "operatorReset", to, locale, values: { email: user.email } } as const;
    await postMail(mail, platformId, told);
  }
  const { url, expiresAt } = await makeLink(services, "operator_reset", user, {
    removesTotp: removeTotp,
  });
  const target = { type: "user", id: userId };
  services.audit.record(scope, { action: "user.reset_link_made", target, platformId });
  return { url, expiresAt: expiresAt.toISOString() };
}
