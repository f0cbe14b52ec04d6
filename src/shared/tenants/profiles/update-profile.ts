import { recordAudit } from "../../audit/record.ts";
import type { ProfileScope } from "../../callers/scope.ts";
import { AppError, notFound } from "../../runtime/errors.ts";
import type { TenantsDeps } from "../deps.ts";
import { requireWritten } from "./create-profile.ts";
import type { Profile } from "./profile.ts";
import type { UpdateProfile } from "./schema.ts";
import { viewProfile, type ProfileView } from "./view-profile.ts";

/** The profile after the change; fields that are not named stay. */
function applyUpdate(profile: Profile, change: UpdateProfile, at: string): Profile {
  if (profile.status === "erasing")
    throw new AppError("invalid_state", "The profile is being erased; nothing brings it back.");
  return {
    ...profile,
    title: change.title ?? profile.title,
    externalId: change.externalId === undefined ? profile.externalId : change.externalId,
    metadata: change.metadata ?? profile.metadata,
    status: change.status ?? profile.status,
    updatedAt: at,
  };
}

/** @throws AppError `not_found`, `conflict`, `invalid_state` while it is being erased */
export async function updateProfile(
  services: TenantsDeps,
  scope: ProfileScope,
  change: UpdateProfile,
): Promise<ProfileView> {
  const { platformId, profileId } = scope;
  const at = services.clock.now().toISOString();
  const result = await services.profiles.update(platformId, profileId, (profile) =>
    applyUpdate(profile, change, at),
  );
  if (result === undefined) throw notFound();
  const profile = requireWritten(result);
  recordAudit(services, scope, {
    action: change.status === "disabled" ? "profile.disabled" : "profile.updated",
    target: { type: "profile", id: profileId },
  });
  return await viewProfile(services, profile);
}
