import type { ApplicationScope, ProfileScope } from "../../callers/scope.ts";
import { AppError, notFound } from "../../runtime/errors.ts";
import { newId } from "../../runtime/ids.ts";
import type { TenantsDeps } from "../deps.ts";
import type { ProfileWritten } from "./profile-store.ts";
import type { Profile, ProfileView } from "./profile.ts";
import { viewProfile } from "./read-profiles.ts";
import type { CreateProfile, UpdateProfile } from "./schema.ts";

/** Returns the written profile. @throws AppError `conflict` when another one has the external id */
function requireWritten(result: ProfileWritten): Profile {
  if (result.kind === "written") return result.profile;
  throw new AppError("conflict", 'Another profile of the application has this "externalId".', {
    details: { existingId: result.existingId },
  });
}

/** Creates a profile of the application. @throws AppError `conflict` */
export async function createProfile(
  deps: TenantsDeps,
  scope: ApplicationScope,
  input: CreateProfile,
): Promise<ProfileView> {
  const { platformId, applicationId } = scope;
  const now = deps.clock.now();
  const createdAt = now.toISOString();
  const result = await deps.stores.profiles.create(platformId, {
    id: newId("profile", now),
    applicationId,
    title: input.title,
    externalId: input.externalId ?? null,
    metadata: input.metadata ?? {},
    status: "active",
    createdAt,
    updatedAt: createdAt,
  });
  const profile = requireWritten(result);
  deps.audit.record(scope, {
    action: "profile.created",
    target: { type: "profile", id: profile.id },
  });
  return await viewProfile(deps.connectionsOf, platformId, profile);
}

/** Applies a change to the profile. Fields that aren't named stay unchanged. */
function applyUpdate(profile: Profile, change: UpdateProfile, at: string): Profile {
  if (profile.status === "erasing")
    throw new AppError("invalid_state", "The profile is being erased, and this can't be undone.");
  return {
    ...profile,
    title: change.title ?? profile.title,
    externalId: change.externalId === undefined ? profile.externalId : change.externalId,
    metadata: change.metadata ?? profile.metadata,
    status: change.status ?? profile.status,
    updatedAt: at,
  };
}

/** Changes a profile. @throws AppError `not_found`, `conflict`, `invalid_state` while it is being erased */
export async function updateProfile(
  deps: TenantsDeps,
  scope: ProfileScope,
  change: UpdateProfile,
): Promise<ProfileView> {
  const { platformId, profileId } = scope;
  const at = deps.clock.now().toISOString();
  const result = await deps.stores.profiles.update(platformId, profileId, (profile) =>
    applyUpdate(profile, change, at),
  );
  if (result === undefined) throw notFound();
  const profile = requireWritten(result);
  deps.audit.record(scope, {
    action: change.status === "disabled" ? "profile.disabled" : "profile.updated",
    target: { type: "profile", id: profileId },
  });
  return await viewProfile(deps.connectionsOf, platformId, profile);
}
