import { recordAudit } from "../../audit/record.ts";
import type { ApplicationScope } from "../../callers/scope.ts";
import { AppError } from "../../runtime/errors.ts";
import { newId } from "../../runtime/ids.ts";
import type { TenantsDeps } from "../deps.ts";
import type { Profile } from "./profile.ts";
import type { ProfileWritten } from "./profile-store.ts";
import type { CreateProfile } from "./schema.ts";
import { viewProfile, type ProfileView } from "./view-profile.ts";

/** The written profile. @throws AppError `conflict` when another one has the external id */
export function requireWritten(result: ProfileWritten): Profile {
  if (result.kind === "written") return result.profile;
  throw new AppError("conflict", "Another profile of the application has this externalId.", {
    details: { existingId: result.existingId },
  });
}

/** @throws AppError `conflict` */
export async function createProfile(
  services: TenantsDeps,
  scope: ApplicationScope,
  input: CreateProfile,
): Promise<ProfileView> {
  const { platformId, applicationId } = scope;
  const now = services.clock.now();
  const createdAt = now.toISOString();
  const result = await services.profiles.create(platformId, {
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
  recordAudit(services, scope, {
    action: "profile.created",
    target: { type: "profile", id: profile.id },
  });
  return await viewProfile(services, profile);
}
