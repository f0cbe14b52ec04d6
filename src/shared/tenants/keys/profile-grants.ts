import { makerOf } from "../../callers/caller.ts";
import type { PlatformScope } from "../../callers/scope.ts";
import { notFound } from "../../runtime/errors.ts";
import type { TenantsDeps } from "../deps.ts";
import type { ProfileGrant } from "../profiles/grant.ts";
import type { MintGrant } from "./schema.ts";

/** Mints a token with which a restricted key may act for the profile for a while. @throws AppError `not_found` */
export async function mintGrant(
  deps: TenantsDeps,
  scope: PlatformScope,
  { profileId, expiresIn }: MintGrant,
): Promise<ProfileGrant> {
  const { platformId } = scope;
  const profile = await deps.stores.profiles.find(platformId, profileId);
  if (profile === undefined) throw notFound();
  const { applicationId } = profile;
  if (scope.applicationId !== null && applicationId !== scope.applicationId) throw notFound();
  const mintedBy = makerOf(scope.caller);
  const grant = { platformId, applicationId, profileId, mintedBy };
  const { token, expiresAt } = await deps.secrets.grants.mint(grant, expiresIn);
  deps.audit.record(scope, {
    action: "profile_grant.minted",
    target: { type: "profile", id: profileId },
    applicationId,
  });
  return { token, profileId, applicationId, expiresIn, expiresAt, header: "X-Profile-Grant" };
}
