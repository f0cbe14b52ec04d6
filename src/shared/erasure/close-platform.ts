import { actorOf } from "../callers/caller.ts";
import type { SessionScope } from "../callers/scope.ts";
import { composed } from "../networks/contract/text.ts";
import { notFound, validationFailed } from "../runtime/errors.ts";
import { type ClosePlatform, erasedAt } from "../tenants/tenants.ts";
import type { ErasureDeps } from "./deps.ts";
import { newErasure } from "./erasure-stages.ts";

/**
 * Closes the caller's platform: nobody can use it any more, and everything is erased a week later. Until then,
 * operators can open it again.
 * @throws AppError `validation_failed` when the name is not the platform's
 */
export async function closePlatform(
  deps: ErasureDeps,
  scope: SessionScope,
  { name }: ClosePlatform,
): Promise<{ readonly status: "closed"; readonly erasedAt: string }> {
  const { platformId, caller } = scope;
  const action = "platform.closed";
  const target = { type: "platform", id: platformId };
  const platform = await deps.tenants.findPlatform(platformId);
  if (platform === undefined) throw notFound();
  // As people see it: keyboards write a letter with an accent as one character or as two.
  const [shown, typed] = [platform.name, name].map((text) => composed(text.trim()));
  if (typed !== shown) {
    deps.audit.record(scope, { action, target, outcome: "denied" });
    const message = "must be the platform's name, as `GET /v1/me` shows it";
    throw validationFailed([{ path: "name", code: "invalid_value", message }]);
  }
  const now = deps.clock.now();
  const closedAt = now.toISOString();
  const owned = { id: platformId, platformId, applicationId: "", requestedBy: actorOf(caller) };
  // First, so that a crash leaves no closed platform without it. It erases nothing until the platform is closed.
  await deps.erasures.open(newErasure(owned, now, "stopping"));
  const closed = await deps.tenants.close(platformId, closedAt);
  if (closed?.status !== "closed") throw notFound();
  deps.audit.record(scope, { action, target });
  return { status: "closed", erasedAt: erasedAt(closed.updatedAt).toISOString() };
}
