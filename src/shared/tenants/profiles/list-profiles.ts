import type { PlatformScope } from "../../callers/scope.ts";
import { toPage, type Page } from "../../runtime/page.ts";
import type { TenantsDeps } from "../deps.ts";
import type { ListProfiles } from "./schema.ts";
import { viewProfile, type ProfileView } from "./view-profile.ts";

/** The profiles that can fit at all, where that is known without looking through them; undefined where it is not. */
async function candidates(
  services: TenantsDeps,
  { caller, platformId, applicationId }: PlatformScope,
  externalId: string | undefined,
): Promise<readonly string[] | undefined> {
  const allowed =
    caller.kind === "api_key" && caller.keyScope === "restricted"
      ? caller.allowedProfileIds
      : undefined;
  if (externalId === undefined || allowed !== undefined) return allowed;
  const applicationIds =
    applicationId === null
      ? (await services.applications.listAll(platformId)).map(({ id }) => id)
      : [applicationId];
  const found = await Promise.all(
    applicationIds.map((id) => services.profiles.findByExternalId(platformId, id, externalId)),
  );
  return found.filter((id) => id !== undefined);
}

/** The profiles that the caller may see, newest first. @throws AppError `invalid_cursor` */
export async function listProfiles(
  services: TenantsDeps,
  scope: PlatformScope,
  query: ListProfiles,
): Promise<Page<ProfileView>> {
  const { platformId, applicationId, caller } = scope;
  const { limit, cursor, externalId, status } = query;
  const restrictedKeyId =
    caller.kind === "api_key" && caller.keyScope === "restricted" ? caller.keyId : null;
  const filter = { applicationId, externalId, status };
  const bound = { list: "profiles", platformId, restrictedKeyId, ...filter };
  const after = services.cursors.read(cursor, bound);
  const position = { after, limit };
  const profileIds = await candidates(services, scope, externalId);
  const listed =
    profileIds === undefined
      ? await services.profiles.list(platformId, filter, position)
      : await services.profiles.listOf(platformId, profileIds, filter, position);
  const items = await Promise.all(listed.items.map((profile) => viewProfile(services, profile)));
  const makeCursor = (next: string) => services.cursors.make(next, bound);
  return toPage({ items, next: listed.next }, limit, makeCursor, (view) => view);
}
