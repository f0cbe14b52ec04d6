import { isMailOn } from "../../mail/mail.ts";
import type { LoginAttempt } from "../../limits/limits.ts";
import type { AppError } from "../../runtime/errors.ts";
import type { PeopleDeps } from "../deps.ts";
import { isToldToday, type User } from "./user.ts";

/** From this many wrong codes within the hour on, the user is notified. The caller knows the password. */
const TOLD_FROM = 5;

/** Tells a user of wrong codes, once a day. */
async function tell(
  deps: Pick<PeopleDeps, "clock" | "stores" | "mail">,
  user: User,
): Promise<void> {
  const { mail, clock, stores } = deps;
  const now = clock.now();
  const { platformId, email: to, locale } = user;
  await mail.writeWithMails(platformId, [{ kind: "wrongCodes", to, locale }], (rows) =>
    stores.users.update(
      user,
      ({ signIns }) =>
        isToldToday(signIns.codesToldAt, now)
          ? undefined
          : { signIns: { ...signIns, codesToldAt: now.toISOString() } },
      rows,
    ),
  );
}

/**
 * Counts a wrong code after a right password. Returns the error to throw. The user is notified of the fifth before it
 * is counted, so that a crash in between loses no notice, or after it, if others were counted at the same time.
 */
export async function wrongCode(
  deps: PeopleDeps,
  attempt: LoginAttempt,
  user: User,
): Promise<AppError> {
  const isTold = isToldToday(user.signIns.codesToldAt, deps.clock.now());
  const mayTell = isMailOn(deps.config) && user.emailVerified && !isTold;
  const isFifth = attempt.wrongCodes() + 1 >= TOLD_FROM;
  if (mayTell && isFifth) await tell(deps, user);
  const error = await attempt.failed("code");
  if (mayTell && !isFifth && attempt.wrongCodes() >= TOLD_FROM) await tell(deps, user);
  return error;
}
