import type { ProfileScope } from "../../callers/scope.ts";
import { notFound } from "../../runtime/errors.ts";
import type { TenantsDeps } from "../deps.ts";
import { viewProfile, type ProfileView } from "./view-profile.ts";

/** @throws AppError `not_found` */
export async function getProfile(
  services: TenantsDeps,
  { platformId, profileId }: ProfileScope,
): Promise<ProfileView> {
  const profile = await services.profiles.find(platformId, profileId);
  if (profile === undefined) throw notFound();
  return await viewProfile(services, profile);
}
