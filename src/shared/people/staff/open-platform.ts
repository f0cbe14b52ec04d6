import { actorOf } from "../../callers/caller.ts";
import type { OperatorScope } from "../../callers/scope.ts";
import { knownUser, strangerFrom } from "../../limits/limits.ts";
import { newId } from "../../runtime/ids.ts";
import type { PeopleDeps } from "../deps.ts";
import type { Locale } from "../../runtime/locale.ts";
import { withVerification } from "../links/send-verification.ts";
import type { Platform, PlatformSummary } from "../../tenants/tenants.ts";
import { hashAndClaim } from "./manage-users.ts";
import { withNetwork } from "./store-login.ts";
import type { CreatePlatform } from "./schema.ts";
import { newUserRow } from "./user-store.ts";
import { newUser, viewUser, type User, type UserView } from "./user.ts";

/** The name of a platform, and how its first user logs in. */
interface NewPlatform {
  readonly name: string;
  readonly email: string;
  readonly password: string;
  /** The field of the request that has the password. */
  readonly path: string;
  readonly locale: Locale;
  /** Whether the operators vouch for the email. */
  readonly emailVerified: boolean;
  /** The address from which the user signs up. Absent when an operator creates the platform. */
  readonly ip?: string;
}

/**
 * Creates a platform with its first user. First the email is claimed, then both are stored in one transaction. A crash
 * leaves nothing, or a claim that can be taken over after ten minutes.
 * @throws AppError `conflict` when somebody already logs in with the email; `validation_failed` for a weak password;
 * `service_unavailable`
 */
export async function openPlatform(
  deps: PeopleDeps,
  { name, email, password, path, locale, emailVerified, ip }: NewPlatform,
): Promise<{ readonly platform: Platform; readonly user: User }> {
  const now = deps.clock.now();
  const createdAt = now.toISOString();
  const platform: Platform = {
    id: newId("platform", now),
    name,
    status: "active",
    createdAt,
    updatedAt: createdAt,
  };
  const [id, platformId] = [newId("user", now), platform.id];
  const passwordHash = await hashAndClaim(
    deps,
    ip === undefined ? knownUser(platformId, id) : strangerFrom(ip),
    { path, password, email, platformName: name },
    { platformId, userId: id },
  );
  const made = newUser({
    id,
    platformId,
    email,
    role: "owner",
    emailVerified,
    locale,
    passwordHash,
    createdAt,
  });
  const signIns =
    ip === undefined ? made.signIns : withNetwork(made.signIns, { userId: id, ip, now });
  const user: User = { ...made, signIns };
  await withVerification(deps, user, (rows) =>
    deps.tenants.create(platform, [newUserRow(user), ...rows]),
  );
  return { platform, user };
}

export interface CreatedPlatform {
  readonly platform: PlatformSummary;
  readonly user: UserView;
}

/** Creates a platform with its owner and, if requested, its first tokens. @throws AppError as `openPlatform` */
export async function createPlatform(
  deps: PeopleDeps,
  scope: OperatorScope,
  { name, ownerEmail, ownerPassword, locale = "en", initialTokens }: CreatePlatform,
): Promise<CreatedPlatform> {
  const { platform, user } = await openPlatform(deps, {
    name,
    email: ownerEmail,
    password: ownerPassword,
    path: "ownerPassword",
    locale,
    emailVerified: true,
  });
  if (initialTokens !== undefined)
    await deps.creditWallet(platform.id, {
      operationId: "initial tokens",
      tokens: initialTokens,
      actor: actorOf(scope.caller),
      requestId: scope.requestId,
    });
  deps.audit.record(scope, {
    action: "platform.created",
    target: { type: "platform", id: platform.id },
    platformId: platform.id,
  });
  return {
    platform: await deps.tenants.summarizePlatform(platform),
    user: viewUser(user),
  };
}
