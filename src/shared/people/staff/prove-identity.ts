import { knownUser, type LoginAttempt } from "../../limits/limits.ts";
import { AppError } from "../../runtime/errors.ts";
import type { UserStore } from "./user-store.ts";
import type { Passwords } from "./password.ts";
import type { PeopleDeps } from "../deps.ts";
import { spend, type CodeProof } from "./second-factor.ts";
import { checkSecondStep, isProof } from "./second-step.ts";
import type { User } from "./user.ts";
import { wrongCode } from "./wrong-code.ts";

/** Uses up a code. Returns false when another request has used it. */
async function useUp(users: UserStore, user: User, proof: CodeProof): Promise<boolean> {
  const updated = await users.update(user, ({ secondFactor }) => {
    const left = secondFactor === null ? undefined : spend(secondFactor, proof);
    return left && { secondFactor: left };
  });
  return updated !== undefined;
}

/**
 * Checks the password of a user whom a session or a link has named. A failure counts.
 * @throws AppError `invalid_credentials`, `rate_limited`, `service_unavailable`
 */
export async function requirePassword(
  passwords: Passwords,
  attempt: LoginAttempt,
  { user, password }: Pick<SubmittedProof, "user" | "password">,
): Promise<void> {
  const isRight = await passwords.inTurn(knownUser(user.platformId, user.id), (hashing) =>
    hashing.matches(password, user.passwordHash),
  );
  if (!isRight) throw await attempt.failed("password", passwords.missingPepper(user.passwordHash));
}

interface SubmittedProof {
  readonly user: User;
  readonly password: string;
  readonly totpCode?: string | undefined;
}

/**
 * Checks the password of a logged-in user and, with TOTP, a code, which is used up. Failures count as at login.
 * @throws AppError `invalid_credentials`, `totp_required`, `rate_limited`
 */
export async function proveIdentity(
  deps: PeopleDeps,
  attempt: LoginAttempt,
  { user, password, totpCode }: SubmittedProof,
): Promise<void> {
  await requirePassword(deps.secrets.passwords, attempt, { user, password });
  const step = await checkSecondStep(deps, attempt, { user, totpCode });
  if (step.kind === "wrong") throw await wrongCode(deps, attempt, user);
  if (step.kind === "missing") {
    await attempt.passed();
    throw new AppError("totp_required", "Send the authenticator app's code as `totpCode`.");
  }
  await attempt.succeeded(isProof(step) ? "code" : "password");
  if (isProof(step) && !(await useUp(deps.stores.users, user, step)))
    throw await attempt.failed("code");
}
