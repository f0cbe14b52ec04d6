import { makerOf, type Maker } from "../../callers/caller.ts";
import type { PlatformScope } from "../../callers/scope.ts";
import { notFound } from "../../runtime/errors.ts";
import type { AccessRows } from "../access-rows.ts";
import type { TenantsDeps } from "../deps.ts";
import type { ProfileGrant } from "../profiles/grant.ts";
import { isSessionLive } from "../../people/staff/user.ts";
import { keyStatus } from "./key.ts";
import type { MintGrant } from "./schema.ts";

/** Mints a token with which a restricted key may act for the profile for a while. @throws AppError `not_found` */
export async function mintGrant(
  services: TenantsDeps,
  scope: PlatformScope,
  { profileId, expiresIn }: MintGrant,
): Promise<ProfileGrant> {
  const { platformId } = scope;
  const profile = await services.stores.profiles.find(platformId, profileId);
  if (profile === undefined) throw notFound();
  const { applicationId } = profile;
  if (scope.applicationId !== null && applicationId !== scope.applicationId) throw notFound();
  const mintedBy = makerOf(scope.caller);
  const grant = { platformId, applicationId, profileId, mintedBy };
  const { token, expiresAt } = await services.secrets.grants.mint(grant, expiresIn);
  services.audit.record(scope, {
    action: "profile_grant.minted",
    target: { type: "profile", id: profileId },
    applicationId,
  });
  return { token, profileId, applicationId, expiresIn, expiresAt, header: "X-Profile-Grant" };
}

/**
 * Reports whether a key is active, or a session has not been ended. The grants and connect sessions that it made end with
 * it. A session that has expired was not ended.
 */
export async function isMakerActive(
  rows: Pick<AccessRows, "key" | "user">,
  { platformId, maker }: { readonly platformId: string; readonly maker: Maker },
  now: Date,
): Promise<boolean> {
  const { id, session } = maker;
  if (session !== null) {
    const user = await rows.user(platformId, id);
    return user !== undefined && isSessionLive(user, session);
  }
  const found = await rows.key(id);
  return found !== undefined && keyStatus(found.key, now) === "active";
}
