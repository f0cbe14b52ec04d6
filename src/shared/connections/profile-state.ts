import type { ConnectionsDeps } from "./deps.ts";

/**
 * Whether accounts may be linked to the profile now. Judged anew at every link: the browser's session outlives what
 * the platform decides about the profile.
 */
export async function isProfileActive(
  services: ConnectionsDeps,
  owner: {
    readonly platformId: string;
    readonly applicationId: string;
    readonly profileId: string;
  },
): Promise<boolean> {
  const { platformId, applicationId, profileId } = owner;
  const [platform, application, profile] = await Promise.all([
    services.platforms.find(platformId),
    services.applications.find(platformId, applicationId),
    services.profiles.find(platformId, profileId),
  ]);
  return [platform, application, profile].every((part) => part?.status === "active");
}
