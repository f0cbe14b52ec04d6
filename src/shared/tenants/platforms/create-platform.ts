import { recordAudit } from "../../audit/record.ts";
import { creditWallet } from "../../billing/charge.ts";
import { actorOf } from "../../callers/caller.ts";
import type { OperatorScope } from "../../callers/scope.ts";
import type { TenantsDeps } from "../deps.ts";
import { openPlatform } from "./open-platform.ts";
import { summarizePlatform, type PlatformSummary } from "./platform-account.ts";
import type { CreatePlatform } from "../staff/schema.ts";
import { viewUser, type UserView } from "../staff/user.ts";

export interface CreatedPlatform {
  readonly platform: PlatformSummary;
  readonly user: UserView;
}

/** A platform with its owner and, when asked for, its first tokens. @throws AppError `conflict` */
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
