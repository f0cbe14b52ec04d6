import type { OperatorScope } from "../../callers/scope.ts";
import { toPage, type Page } from "../../runtime/page.ts";
import type { TenantsDeps } from "../deps.ts";
import type { ListPlatforms } from "../platform-schema.ts";
import { summarizePlatform, type PlatformSummary } from "./platform-account.ts";
import { actorOf } from "../../callers/caller.ts";
import { openPlatform } from "../../people/staff/open-platform.ts";
import type { CreatePlatform } from "../../people/staff/schema.ts";
import { viewUser, type UserView } from "../../people/staff/user.ts";

/** Lists all platforms, newest first. @throws AppError `invalid_cursor` */
export async function listPlatforms(
  services: TenantsDeps,
  _scope: OperatorScope,
  { limit, cursor }: ListPlatforms,
): Promise<Page<PlatformSummary>> {
  const bound = { list: "platforms" };
  const after = services.cursors.read(cursor, bound);
  const { items, next } = await services.stores.platforms.list(after, limit);
  const summaries = await Promise.all(
    items.map((item) => summarizePlatform(services.ledger.readWallet, item)),
  );
  return toPage(
    { items: summaries, next },
    limit,
    (position) => services.cursors.make(position, bound),
    (summary) => summary,
  );
}

export interface CreatedPlatform {
  readonly platform: PlatformSummary;
  readonly user: UserView;
}

/** Creates a platform with its owner and, if requested, its first tokens. @throws AppError as `openPlatform` */
export async function createPlatform(
  services: TenantsDeps,
  scope: OperatorScope,
  { name, ownerEmail, ownerPassword, locale = "en", initialTokens }: CreatePlatform,
): Promise<CreatedPlatform> {
  const { platform, user } = await openPlatform(services, {
    name,
    email: ownerEmail,
    password: ownerPassword,
    path: "ownerPassword",
    locale,
    emailVerified: true,
  });
  if (initialTokens !== undefined)
    await services.ledger.creditWallet(platform.id, {
      operationId: "initial tokens",
      tokens: initialTokens,
      actor: actorOf(scope.caller),
      requestId: scope.requestId,
    });
  services.audit.record(scope, {
    action: "platform.created",
    target: { type: "platform", id: platform.id },
    platformId: platform.id,
  });
  return {
    platform: await summarizePlatform(services.ledger.readWallet, platform),
    user: viewUser(user),
  };
}
