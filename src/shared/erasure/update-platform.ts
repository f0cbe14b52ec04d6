import type { OperatorScope } from "../callers/scope.ts";
import { AppError, notFound } from "../runtime/errors.ts";
import type { PlatformSummary, UpdatePlatform } from "../tenants/tenants.ts";
import type { ErasureDeps } from "./deps.ts";
import { stopWhole } from "./stop-platform.ts";

/**
 * Suspends a platform, so that all its keys and sessions are refused, or makes a suspended or closed one active again.
 * Before a closed one is opened, everything ends that doesn't come back with it.
 * @throws AppError `not_found`; `invalid_state` when it is to be suspended but closed, or is still being closed, or is
 * being erased
 */
export async function updatePlatform(
  deps: ErasureDeps,
  scope: OperatorScope,
  { platformId, status }: UpdatePlatform & { readonly platformId: string },
): Promise<PlatformSummary> {
  const { tenants } = deps;
  const before = await tenants.findPlatform(platformId);
  const isReopened = before?.status === "closed" && status === "active";
  const at = deps.clock.now().toISOString();
  if (isReopened) await stopWhole(deps, scope, platformId);
  const platform = isReopened
    ? await tenants.reopen(before, at)
    : await tenants.setStatus(platformId, status, at);
  if (platform === undefined) throw notFound();
  const target = { type: "platform", id: platformId };
  const activated = isReopened ? "platform.reopened" : "platform.activated";
  const action = status === "suspended" ? "platform.suspended" : activated;
  if (platform.status !== status) {
    deps.audit.record(scope, { action, target, platformId, outcome: "denied" });
    throw new AppError(
      "invalid_state",
      status === "suspended"
        ? "The platform is closed, which nobody gets into either."
        : "The platform is being erased. Nothing brings it back.",
    );
  }
  deps.audit.record(scope, { action, target, platformId });
  return await tenants.summarizePlatform(platform);
}
