import { recordAudit } from "../../audit/record.ts";
import { actorOf } from "../../callers/caller.ts";
import type { PlatformScope } from "../../callers/scope.ts";
import { notFound } from "../../runtime/errors.ts";
import type { TenantsDeps } from "../deps.ts";
import type { MintGrant } from "./schema.ts";

export interface ProfileGrant {
  readonly token: string;
  readonly profileId: string;
  readonly applicationId: string;
  readonly expiresIn: number;
  readonly expiresAt: string;
  readonly header: string;
}

/** A token that lets a restricted key of the application act on the profile for a while. @throws AppError `not_found` */
export async function mintGrant(
  services: TenantsDeps,
  scope: PlatformScope,
  { profileId, expiresIn }: MintGrant,
): Promise<ProfileGrant> {
  const { platformId } = scope;
  const profile = await services.profiles.find(platformId, profileId);
  if (profile === undefined) throw notFound();
  const { applicationId } = profile;
  if (scope.applicationId !== null && applicationId !== scope.applicationId) throw notFound();
  const mintedBy = actorOf(scope.caller).id;
  const grant = { platformId, applicationId, profileId, mintedBy };
  const { token, expiresAt } = await services.grants.mint(grant, expiresIn);
  recordAudit(services, scope, {
    action: "profile_grant.minted",
    target: { type: "profile", id: profileId },
    applicationId,
  });
  return { token, profileId, applicationId, expiresIn, expiresAt, header: "X-Profile-Grant" };
}
