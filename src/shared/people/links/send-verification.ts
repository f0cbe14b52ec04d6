import { sessionExpired } from "../../callers/credential.ts";
import type { SessionScope } from "../../callers/scope.ts";
import { isMailOn } from "../../mail/mail.ts";
import { AppError } from "../../runtime/errors.ts";
import type { Row } from "../../runtime/storage/row.ts";
import type { PeopleDeps } from "../deps.ts";
import { mailDisabled, makeLink, type StoredUser, type LinkDeps } from "./links.ts";

const verificationOf = async (deps: LinkDeps, user: StoredUser) => {
  const { email: to, locale } = user;
  const { url: link } = await makeLink(deps, "verify", user);
  return { kind: "verify", to, locale, link } as const;
};

/**
 * Calls `write`, which stores a new user, with the row of the mail that asks to verify the email. There is no mail for
 * a user who is verified, or whose address has got too many.
 */
export async function withVerification<T>(
  deps: PeopleDeps,
  user: StoredUser,
  write: (rows: readonly Row[]) => Promise<T>,
): Promise<T> {
  const { mail } = deps;
  if (user.emailVerified || !(await mail.admitMail(user.email, "verify"))) return await write([]);
  return await mail.writeWithMails(user.platformId, [await verificationOf(deps, user)], write);
}

/** Mails the link again and ends the previous one. @throws AppError `mail_disabled`, `invalid_state` */
export async function resendVerification(
  deps: PeopleDeps,
  { caller }: SessionScope,
): Promise<void> {
  const { mail, stores } = deps;
  if (!isMailOn(deps.config)) throw mailDisabled();
  const user = await stores.users.find(caller.platformId, caller.userId);
  if (user === undefined) throw sessionExpired();
  if (user.emailVerified) throw new AppError("invalid_state", "The email is verified already.");
  if (!(await mail.admitMail(user.email, "verify"))) return;
  await mail.postMail(user.platformId, await verificationOf(deps, user));
}
