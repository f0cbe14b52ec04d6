import { recordAudit } from "../../audit/record.ts";
import { actorOf } from "../../callers/caller.ts";
import type { PlatformScope } from "../../callers/scope.ts";
import { notFound } from "../../runtime/errors.ts";
import type { Profile } from "../profiles/profile.ts";
import { viewProfile, type ProfileView } from "../profiles/view-profile.ts";
import type { TenantsDeps } from "../deps.ts";
import { closeProfile } from "./close-profile.ts";
import { newErasure } from "./erasure.ts";

async function profileOf(
  services: TenantsDeps,
  { platformId, applicationId }: PlatformScope,
  profileId: string,
): Promise<Profile> {
  const profile = await services.profiles.find(platformId, profileId);
  if (profile === undefined) throw notFound();
  if (applicationId !== null && applicationId !== profile.applicationId) throw notFound();
  return profile;
}

/**
 * Starts to erase a profile: from now on nothing is published or linked for it, and nothing brings it back. May be
 * repeated until it is gone. What is personal in the profile itself goes at once, the rest in the background.
 * @throws AppError `not_found`
 */
export async function requestErasure(
  services: TenantsDeps,
  scope: PlatformScope,
  { profileId }: { readonly profileId: string },
): Promise<ProfileView> {
  const { platformId } = scope;
  const { applicationId } = await profileOf(services, scope, profileId);
  const requestedBy = actorOf(scope.caller);
  const owner = { platformId, applicationId, profileId, requestedBy };
  // First, so that a crash in between leaves an erasure that closes the profile itself.
  await services.erasures.open(newErasure(owner, services.clock.now()));
  const closed = await closeProfile(services, platformId, profileId);
  if (closed === undefined) throw notFound();
  const target = { type: "profile", id: profileId };
  recordAudit(services, scope, { action: "profile.erasure_requested", target, applicationId });
  return await viewProfile(services, closed);
}
