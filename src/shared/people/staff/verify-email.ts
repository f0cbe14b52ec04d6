import type { RequestScope } from "../../callers/scope.ts";
import { invalidLogin, readCredential } from "../../callers/credential.ts";
import { AppError } from "../../runtime/errors.ts";
import type { Sessions } from "../../callers/tokens.ts";
import type { PeopleDeps } from "../deps.ts";
import { requirePassword } from "./prove-identity.ts";
import { startWithCredit } from "./starting-credit.ts";
import { isSessionLive, type User } from "./user.ts";
import { followLink, invalidLink } from "../links/links.ts";
import { finishEmailChange } from "./change-email.ts";
import { recordUser } from "../links/record-user.ts";
import type { OneTimeLinkForm } from "../links/used-link.ts";
import type { Verify } from "../links/schema.ts";

async function hasSessionOf(sessions: Sessions, user: User, headers: Headers): Promise<boolean> {
  if (!headers.has("authorization")) return false;
  try {
    const session = await sessions.verify(readCredential(headers).text);
    const isOwn = session.userId === user.id && session.platformId === user.platformId;
    return isOwn && isSessionLive(user, session);
  } catch (error) {
    if (error instanceof AppError) return false;
    throw error;
  }
}

/**
 * Verifies an email with the link that was sent to it. The link proves the mailbox. The session or the password proves
 * that its reader is the person who signed up.
 * @throws AppError `invalid_link`, `invalid_credentials`, `rate_limited`
 */
export async function verifyEmail(
  deps: PeopleDeps,
  scope: RequestScope,
  {
    token,
    password,
    headers,
    form,
  }: Verify & { readonly headers: Headers; readonly form?: OneTimeLinkForm },
): Promise<void> {
  const { user, link } = await followLink(deps, ["verify", "email"], token);
  if (!(await hasSessionOf(deps.secrets.sessions, user, headers))) {
    if (password === undefined) throw invalidLogin();
    // Checks the password of the user of a link, with the limits of a login.
    const attempt = await deps.limits.beginLoginAttempt({ email: user.email, ip: scope.ip });
    await requirePassword(deps.secrets.passwords, attempt, { user, password });
    await attempt.succeeded();
  }
  const { kind, newEmail } = link;
  if (kind === "email") return await finishEmailChange(deps, scope, user, { newEmail, form });
  // Again, because a process may have ended before the credit. It is made only once.
  if (user.emailVerified) return await startWithCredit(deps, user, scope.requestId);
  const verified = await deps.stores.users.update(user, (present) =>
    present.email === user.email ? { emailVerified: true } : undefined,
  );
  if (verified === undefined) throw invalidLink();
  recordUser(deps, scope, user, "user.email_verified");
  await startWithCredit(deps, user, scope.requestId);
}
