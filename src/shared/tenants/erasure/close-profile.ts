import { invariant } from "../../runtime/errors.ts";
import type { Profile } from "../profiles/profile.ts";
import type { TenantsDeps } from "../deps.ts";

/** What is left of an erased profile's own words until its row goes. */
const TITLE = "Erased";

/** Takes what is personal out of the profile's row and closes it for good; undefined when it is gone. May be repeated. */
export async function closeProfile(
  services: TenantsDeps,
  platformId: string,
  profileId: string,
): Promise<Profile | undefined> {
  const at = services.clock.now().toISOString();
  const result = await services.profiles.update(platformId, profileId, (profile) =>
    profile.status === "erasing"
      ? profile
      : {
          ...profile,
          title: TITLE,
          externalId: null,
          metadata: {},
          status: "erasing",
          updatedAt: at,
        },
  );
  if (result === undefined) return undefined;
  invariant(result.kind === "written", "a profile without an external id collided with another");
  return result.profile;
}
