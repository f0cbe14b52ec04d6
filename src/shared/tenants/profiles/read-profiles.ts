import {
  inApplication,
  type ApplicationScope,
  type PlatformScope,
  type ProfileScope,
} from "../../callers/scope.ts";
import { notFound } from "../../runtime/errors.ts";
import { refuseLostPlus } from "../../runtime/fields.ts";
import { foldedName } from "../../runtime/folded-name.ts";
import { toPage, type Page } from "../../runtime/page.ts";
import { searchIndex, SEARCHED_ROWS_MAX } from "../../runtime/search-index.ts";
import type { TenantStores } from "../stores.ts";
import type { TenantsDeps } from "../deps.ts";
import { profileNameKey } from "./profile-store.ts";
import type { Profile, ProfileView } from "./profile.ts";
import type { ListProfiles } from "./schema.ts";

/** Shows a profile with the accounts that are linked to it. */
export async function viewProfile(
  connectionsOf: TenantsDeps["connectionsOf"],
  platformId: string,
  profile: Profile,
): Promise<ProfileView> {
  const linked = await connectionsOf({ platformId, profileId: profile.id }, "people");
  const connections = linked
    .filter(({ status }) => status !== "revoked")
    .map(({ network, status, account }) => ({
      platform: network,
      status,
      username: account.username,
    }));
  const { id, applicationId, title, externalId, metadata, status, createdAt, updatedAt } = profile;
  return {
    id,
    applicationId,
    title,
    externalId,
    metadata,
    status,
    connections,
    createdAt,
    updatedAt,
  };
}

/** Returns the profile of the scope. @throws AppError `not_found` */
export async function getProfile(
  deps: TenantsDeps,
  { platformId, profileId }: ProfileScope,
): Promise<ProfileView> {
  const profile = await deps.stores.profiles.find(platformId, profileId);
  if (profile === undefined) throw notFound();
  return await viewProfile(deps.connectionsOf, platformId, profile);
}

/** Returns the ids of the profiles that may match, or undefined when all profiles would have to be read. */
async function candidates(
  stores: Pick<TenantStores, "applications" | "profiles">,
  { caller, platformId, applicationId }: PlatformScope,
  externalId: string | undefined,
): Promise<readonly string[] | undefined> {
  const allowed =
    caller.kind === "api_key" && caller.keyScope === "restricted"
      ? caller.allowedProfileIds
      : undefined;
  if (externalId === undefined || allowed !== undefined) return allowed;
  const applicationIds =
    applicationId === null ? await stores.applications.listIds(platformId) : [applicationId];
  const found = await Promise.all(
    applicationIds.map((id) => stores.profiles.findByExternalId(platformId, id, externalId)),
  );
  return found.filter((id) => id !== undefined);
}

/**
 * Lists the profiles of the application that the caller may see and whose names begin so, in the order of those names.
 * A profile is listed once: under its title if that matches. What a call reads is bounded.
 */
async function searchProfiles(
  { stores, connectionsOf, cursors }: TenantsDeps,
  { platformId, applicationId, caller }: ApplicationScope,
  { q, limit, cursor }: Pick<ListProfiles, "limit" | "cursor"> & { readonly q: string },
): Promise<Page<ProfileView>> {
  const key = caller.kind === "api_key" && caller.keyScope === "restricted" ? caller : null;
  const allowed = key && new Set(key.allowedProfileIds);
  const restrictedKeyId = key?.keyId ?? null;
  const bound = { list: "profiles by name", platformId, restrictedKeyId, applicationId, q };
  const beginning = foldedName(q);
  const listed = await searchIndex<string, Profile>({
    list: (at, rows) =>
      stores.profiles.listNames({ platformId, applicationId, beginning, at, rows }),
    mayFit: allowed === null ? undefined : (id) => allowed.has(id),
    read: (id) => stores.profiles.find(platformId, id),
    idOf: (id) => id,
    // It may have another name since the index was read.
    fits(profile, key) {
      const names = [profile.title, profile.externalId ?? ""].map(foldedName);
      const name = names.find((one) => one.startsWith(beginning));
      return name !== undefined && key === profileNameKey(profile, name);
    },
    at: cursors.read(cursor, bound),
    limit,
    // Profiles may be found by both of their names.
    rows: allowed === null ? 2 * limit + 1 : SEARCHED_ROWS_MAX,
    queriesMax: 1,
    readsMax: limit,
  });
  const items = await Promise.all(
    listed.items.map((profile) => viewProfile(connectionsOf, platformId, profile)),
  );
  const makeCursor = (next: string) => cursors.make(next, bound);
  return toPage({ items, next: listed.next }, limit, makeCursor, (view) => view);
}

/**
 * Lists the profiles that the caller may see: newest first, or those that `q` finds in the order of their names.
 * @throws AppError `invalid_cursor`, `application_header_required`
 */
export async function listProfiles(
  deps: TenantsDeps,
  scope: PlatformScope,
  query: ListProfiles,
): Promise<Page<ProfileView>> {
  const { platformId, applicationId, caller } = scope;
  const { limit, cursor, externalId, status, q } = query;
  if (q !== undefined)
    return await searchProfiles(deps, inApplication(scope), { q, limit, cursor });
  const restrictedKeyId =
    caller.kind === "api_key" && caller.keyScope === "restricted" ? caller.keyId : null;
  const filter = { applicationId, externalId, status };
  const bound = { list: "profiles", platformId, restrictedKeyId, ...filter };
  const after = deps.cursors.read(cursor, bound);
  const position = { after, limit };
  const profileIds = await candidates(deps.stores, scope, externalId);
  const listed =
    profileIds === undefined
      ? await deps.stores.profiles.list(platformId, filter, position)
      : await deps.stores.profiles.listOf(platformId, profileIds, filter, position);
  const isEmpty = listed.items.length === 0 && listed.next === undefined;
  refuseLostPlus("externalId", externalId, !isEmpty || after !== undefined);
  const items = await Promise.all(
    listed.items.map((profile) => viewProfile(deps.connectionsOf, platformId, profile)),
  );
  const makeCursor = (next: string) => deps.cursors.make(next, bound);
  return toPage({ items, next: listed.next }, limit, makeCursor, (view) => view);
}
