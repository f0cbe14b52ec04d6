import { recordAudit } from "../../audit/record.ts";
import { creditWallet } from "../../billing/charge.ts";
import { actorOf } from "../../callers/caller.ts";
import type { OperatorScope } from "../../callers/scope.ts";
import { newId } from "../../runtime/ids.ts";
import type { TenantsDeps } from "../deps.ts";
import { claimAndHash } from "../staff/manage-users.ts";
import type { CreatePlatform } from "../staff/schema.ts";
import { newUser, viewUser, type User, type UserView } from "../staff/user.ts";
import { summarizePlatform, type PlatformSummary } from "./platform-account.ts";
import type { Platform } from "./platform.ts";

/** The name of a platform, and how its first user signs in. */
export interface NewPlatform {
  readonly name: string;
  readonly email: string;
  readonly password: string;
}

/**
 * Creates a platform with its first user. The e-mail is claimed first and both are stored in one transaction then, so
 * that a crash leaves nothing, or a claim that can be taken over after ten minutes.
 * @throws AppError `conflict` when somebody signs in with the e-mail already; `service_unavailable`
 */
export async function openPlatform(
  services: TenantsDeps,
  { name, email, password }: NewPlatform,
): Promise<{ readonly platform: Platform; readonly user: User }> {
  const now = services.clock.now();
  const createdAt = now.toISOString();
  const platform: Platform = {
    id: newId("platform", now),
    name,
    status: "active",
    createdAt,
    updatedAt: createdAt,
  };
  const [id, platformId] = [newId("user", now), platform.id];
  const passwordHash = await claimAndHash(
    services,
    { email, password },
    { platformId, userId: id },
  );
  const user = newUser({ id, platformId, email, passwordHash, createdAt });
  await services.platforms.createWithOwner(platform, user);
  return { platform, user };
}

export interface CreatedPlatform {
  readonly platform: PlatformSummary;
  readonly user: UserView;
}

/** Creates a platform with its owner and, if asked to, credits its first tokens. @throws AppError `conflict` */
export async function createPlatform(
  services: TenantsDeps,
  scope: OperatorScope,
  { name, ownerEmail, ownerPassword, initialTokens }: CreatePlatform,
): Promise<CreatedPlatform> {
  const owner = { name, email: ownerEmail, password: ownerPassword };
  const { platform, user } = await openPlatform(services, owner);
  if (initialTokens !== undefined)
    await creditWallet(services, platform.id, {
      operationId: "initial tokens",
      operation: "billing.credit",
      tokens: initialTokens,
      applicationId: null,
      profileId: null,
      postId: null,
      network: null,
      actor: actorOf(scope.caller),
      requestId: scope.requestId,
    });
  recordAudit(services, scope, {
    action: "platform.created",
    target: { type: "platform", id: platform.id },
    platformId: platform.id,
  });
  return { platform: await summarizePlatform(services, platform), user: viewUser(user) };
}
