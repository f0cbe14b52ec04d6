import { recordAudit } from "../audit/record.ts";
import type { SessionCaller } from "../callers/caller.ts";
import { invalidCredentials } from "../callers/credential.ts";
import type { RequestScope } from "../callers/scope.ts";
import { AppError } from "../errors.ts";
import { beginLoginAttempt } from "../limits/login-attempt.ts";
import type { Services } from "../services.ts";
import type { LogIn } from "./schema.ts";
import { startSession, type SignedIn } from "./sign-up.ts";
import type { User } from "./user.ts";

async function findUser(services: Services, email: string): Promise<User | undefined> {
  const claim = await services.emails.find(email);
  return claim === undefined
    ? undefined
    : await services.users.find(claim.platformId, claim.userId);
}

/**
 * Wrong e-mail and wrong password get the same answer after the same work.
 * @throws AppError `invalid_credentials`, `platform_suspended`, `rate_limited`
 */
export async function logIn(
  services: Services,
  scope: RequestScope,
  { email, password }: LogIn,
): Promise<SignedIn> {
  const attempt = await beginLoginAttempt(services, email);
  const user = await findUser(services, email);
  const right = await services.passwords.matches(password, user?.passwordHash);
  if (user === undefined) throw await attempt.failed();
  const { id: userId, platformId } = user;
  const caller: SessionCaller = { kind: "session", userId, platformId };
  const record = (outcome: "ok" | "denied") =>
    recordAudit(
      services,
      { ...scope, caller, platformId },
      { action: "user.logged_in", target: { type: "user", id: userId }, outcome },
    );
  if (!right) {
    record("denied");
    throw await attempt.failed();
  }
  await attempt.succeeded();
  const platform = await services.platforms.find(platformId);
  if (platform === undefined) throw invalidCredentials();
  if (platform.status === "suspended") {
    record("denied");
    throw new AppError("platform_suspended", "The platform is suspended.");
  }
  const newHash = services.passwords.isOutdated(user.passwordHash)
    ? await services.passwords.hash(password)
    : undefined;
  const at = services.clock.now().toISOString();
  const recorded = await services.users.recordLogin(user, at, newHash);
  if (recorded === undefined) throw invalidCredentials();
  record("ok");
  return await startSession(services, platform, recorded);
}
