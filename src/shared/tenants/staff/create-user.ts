import { recordAudit } from "../../audit/record.ts";
import type { SessionScope } from "../../callers/scope.ts";
import { AppError } from "../../runtime/errors.ts";
import { newId } from "../../runtime/ids.ts";
import { admitPasswords } from "../../limits/password-limit.ts";
import type { TenantsDeps } from "../deps.ts";
import { claimAndHash } from "./claim-email.ts";
import type { CreateUser } from "./schema.ts";
import { newUser, viewUser, type UserView } from "./user.ts";

const isRefusal = ({ code }: AppError) => code === "conflict" || code === "rate_limited";

/**
 * A colleague of the caller. The e-mail is claimed first: what a crash leaves is a claim that can be taken over.
 * @throws AppError `conflict` when somebody signs in with the e-mail already; `rate_limited`, `service_unavailable`
 */
export async function createUser(
  services: TenantsDeps,
  scope: SessionScope,
  { email, password }: CreateUser,
): Promise<UserView> {
  const { platformId } = scope;
  const action = "user.created";
  try {
    await admitPasswords(services, { kind: "platform", id: platformId });
    const now = services.clock.now();
    const id = newId("user", now);
    const owner = { platformId, userId: id };
    const passwordHash = await claimAndHash(services, { email, password }, owner);
    const user = newUser({ id, platformId, email, passwordHash, createdAt: now.toISOString() });
    await services.users.create(user);
    recordAudit(services, scope, { action, target: { type: "user", id } });
    return viewUser(user);
  } catch (error) {
    if (error instanceof AppError && isRefusal(error))
      recordAudit(services, scope, { action, outcome: "denied" });
    throw error;
  }
}
