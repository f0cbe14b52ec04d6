import { actorOf } from "../callers/caller.ts";
import type { PlatformScope } from "../callers/scope.ts";
import { invariant, notFound } from "../runtime/errors.ts";
import type { ErasureDeps } from "./deps.ts";
import type { Profile, ProfileView } from "../tenants/tenants.ts";
import { newErasure, type ErasureOwner } from "./erasure-stages.ts";

/** Removes personal data from the profile's row and disables it for good. Undefined without a row. May be repeated. */
async function closeProfile(
  deps: ErasureDeps,
  platformId: string,
  profileId: string,
): Promise<Profile | undefined> {
  const at = deps.clock.now().toISOString();
  const result = await deps.tenants.closeProfile(platformId, profileId, at);
  if (result === undefined) return undefined;
  invariant(result.kind === "written", "a profile without an external id collided with another");
  return result.profile;
}

/** Begins to erase a profile. Returns the profile afterwards, or undefined when it doesn't exist. May be repeated. */
export async function beginErasure(
  deps: ErasureDeps,
  owned: ErasureOwner,
): Promise<Profile | undefined> {
  // First, so that a crash leaves no closed profile without an erasure. It erases nothing until the profile is closed.
  await deps.erasures.open(newErasure(owned, deps.clock.now()));
  return await closeProfile(deps, owned.platformId, owned.id);
}

/**
 * Begins to erase a profile. From now on nothing is published or linked for it, which can't be undone. Personal data of
 * the profile itself is removed immediately, the rest in the background. May be repeated until the profile is gone.
 * @throws AppError `not_found`
 */
export async function requestErasure(
  deps: ErasureDeps,
  scope: PlatformScope,
  { profileId }: { readonly profileId: string },
): Promise<ProfileView> {
  const { platformId } = scope;
  const profile = await deps.tenants.findProfile(scope.platformId, profileId);
  if (profile === undefined) throw notFound();
  if (scope.applicationId !== null && scope.applicationId !== profile.applicationId)
    throw notFound();
  const { applicationId, status } = profile;
  const owned = { id: profileId, platformId, applicationId, requestedBy: actorOf(scope.caller) };
  const closed =
    status === "erasing"
      ? await closeProfile(deps, platformId, profileId)
      : await beginErasure(deps, owned);
  if (closed === undefined) throw notFound();
  const target = { type: "profile", id: profileId };
  deps.audit.record(scope, { action: "profile.erasure_requested", target, applicationId });
  return await deps.tenants.viewProfile(platformId, closed);
}
