import type { OperatorScope } from "../../callers/scope.ts";
import { AppError, notFound } from "../../runtime/errors.ts";
import { toPage, type Page } from "../../runtime/page.ts";
import type { TenantsDeps } from "../deps.ts";
import type { ErasureDeps } from "../../erasure/deps.ts";
import { stopWhole } from "../../erasure/stop-platform.ts";
import type { Platform } from "../platform.ts";
import type { ListPlatforms, UpdatePlatform } from "../platform-schema.ts";
import { summarizePlatform, type PlatformSummary } from "./platform-account.ts";
import { actorOf } from "../../callers/caller.ts";
import { openPlatform } from "../staff/open-platform.ts";
import type { CreatePlatform } from "../staff/schema.ts";
import { closingNotice, writeWithOwnersNotice } from "../staff/security-notices.ts";
import { viewUser, type UserView } from "../staff/user.ts";

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

/**
 * Opens a closed platform again after ending everything that doesn't come back with it, and notifies its owners.
 * @throws AppError `invalid_state` while that takes longer than a request can wait
 */
async function reopen(
  services: ErasureDeps,
  scope: OperatorScope,
  { id: platformId, updatedAt: closedAt }: Platform,
  at: string,
): Promise<Platform | undefined> {
  await stopWhole(services, scope, platformId);
  const { mail, stores } = services.tenants;
  return await writeWithOwnersNotice(
    mail,
    platformId,
    closingNotice("platformReopened", closedAt),
    (rows) => stores.platforms.setStatus(platformId, "active", at, rows),
  );
}

/**
 * Suspends a platform, so that all its keys and sessions are refused, or makes a suspended or closed one active again.
 * @throws AppError `not_found`; `invalid_state` when it is to be suspended but closed, or is still being closed, or is
 * being erased
 */
export async function updatePlatform(
  services: ErasureDeps,
  scope: OperatorScope,
  { platformId, status }: UpdatePlatform & { readonly platformId: string },
): Promise<PlatformSummary> {
  const { platforms } = services.tenants.stores;
  const before = await platforms.find(platformId);
  const isReopened = before?.status === "closed" && status === "active";
  const at = services.clock.now().toISOString();
  const platform = isReopened
    ? await reopen(services, scope, before, at)
    : await platforms.setStatus(platformId, status, at);
  if (platform === undefined) throw notFound();
  const target = { type: "platform", id: platformId };
  const activated = isReopened ? "platform.reopened" : "platform.activated";
  const action = status === "suspended" ? "platform.suspended" : activated;
  if (platform.status !== status) {
    services.audit.record(scope, { action, target, platformId, outcome: "denied" });
    throw new AppError(
      "invalid_state",
      status === "suspended"
        ? "The platform is closed, which nobody gets into either."
        : "The platform is being erased. Nothing brings it back.",
    );
  }
  services.audit.record(scope, { action, target, platformId });
  return await summarizePlatform(services.tenants.ledger.readWallet, platform);
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
