import type { RequestScope, SessionScope } from "../../callers/scope.ts";
import { isMailOn } from "../../mail/mail.ts";
import { AppError } from "../../runtime/errors.ts";
import type { PeopleDeps } from "../deps.ts";
import { invalidLink, mailDisabled, makeLink } from "../links/links.ts";
import { recordUser } from "../links/record-user.ts";
import { usedLink, type OneTimeLinkForm } from "../links/used-link.ts";
import { claimEmail } from "./manage-users.ts";
import { confirmIdentity, getOwnUser } from "./own-account.ts";
import { proveIdentity } from "./prove-identity.ts";
import type { ChangeEmail } from "./schema.ts";
import { updateWithNotice } from "./update-with-notice.ts";
import { isEmailOf, type User } from "./user.ts";

const ASKED = "user.email_change_asked";

/**
 * Mails a link to a new address, which becomes the user's when the link is used. The present address is notified.
 * @throws AppError `mail_disabled`, `invalid_credentials`, `totp_required`, `rate_limited`
 */
export async function askForEmailChange(
  deps: PeopleDeps,
  scope: SessionScope,
  { newEmail, password, totpCode }: ChangeEmail,
): Promise<void> {
  const { mail } = deps;
  if (!isMailOn(deps.config)) throw mailDisabled();
  const user = await getOwnUser(deps.stores.users, scope);
  await deps.limits.admitPasswords({ kind: "user", id: user.id });
  const attempt = await confirmIdentity(deps, scope, { user, action: ASKED });
  await proveIdentity(deps, attempt, { user, password, totpCode });
  await deps.limits.admitEmailChange(user.platformId);
  if (!(await mail.admitMail(newEmail, "email")))
    throw new AppError(
      "rate_limited",
      "This address got too many of these mails. Try again later.",
      {
        retryAfterSeconds: 3_600,
        details: { retryAfter: 3_600 },
      },
    );
  const { platformId, email, locale } = user;
  const { url: link } = await makeLink(deps, "email", user, { newEmail });
  const values = { address: scope.ip };
  await mail.postMail(platformId, { kind: "emailAsked", to: email, locale, values });
  await mail.postMail(platformId, { kind: "email", to: newEmail, locale, link });
  recordUser(deps, scope, user, ASKED);
}

/**
 * Gives the user the new address of a link, and notifies the old one. A crash in between leaves a claim that can be
 * taken over.
 * @throws AppError `conflict` when somebody else logs in with it; `invalid_link`
 */
export async function finishEmailChange(
  deps: PeopleDeps,
  scope: RequestScope,
  user: User,
  { newEmail, form }: { readonly newEmail: string; readonly form: OneTimeLinkForm | undefined },
): Promise<void> {
  const { id: userId, platformId, email } = user;
  await claimEmail(deps, newEmail, { platformId, userId });
  const changed = await updateWithNotice(
    deps,
    user,
    { kinds: ["emailChanged"], ip: scope.ip },
    (present) =>
      present.email === email && present.passwordVersion === user.passwordVersion
        ? { email: newEmail, emailVerified: true, ...usedLink(deps, form) }
        : undefined,
  );
  if (changed === undefined) throw invalidLink();
  // If this fails, the claim can still be taken over, because its user logs in with another address.
  if (!isEmailOf(user, newEmail)) await deps.stores.emails.release(email, userId);
  recordUser(deps, scope, user, "user.email_changed");
}
