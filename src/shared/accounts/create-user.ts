import { recordAudit } from "../audit/record.ts";
import type { SessionScope } from "../callers/scope.ts";
import { AppError } from "../errors.ts";
import { newId } from "../ids.ts";
import type { Services } from "../services.ts";
import { claimEmail } from "./claim-email.ts";
import type { CreateUser } from "./schema.ts";
import { newUser, viewUser, type UserView } from "./user.ts";

/**
 * A colleague of the caller. The e-mail is claimed first: what a crash leaves is a claim that can be taken over.
 * @throws AppError `conflict` when somebody signs in with the e-mail already
 */
export async function createUser(
  services: Services,
  scope: SessionScope,
  { email, password }: CreateUser,
): Promise<UserView> {
  const { platformId } = scope;
  const action = "user.created";
  const passwordHash = await services.passwords.hash(password);
  const now = services.clock.now();
  const id = newId("user", now);
  const user = newUser({ id, platformId, email, passwordHash, createdAt: now.toISOString() });
  try {
    await claimEmail(services, email, { platformId, userId: id });
  } catch (error) {
    if (error instanceof AppError && error.code === "conflict")
      recordAudit(services, scope, { action, outcome: "denied" });
    throw error;
  }
  await services.users.create(user);
  recordAudit(services, scope, { action, target: { type: "user", id } });
  return viewUser(user);
}
