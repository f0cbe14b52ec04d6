import type { ApiKeyCaller } from "../../callers/caller.ts";
import { type ApplicationScope, inApplication, type ProfileScope } from "../../callers/scope.ts";
import { profileOfSession, type PublishingScope } from "../../connections/connections.ts";
import type { AcceptingScope } from "../../publishing/publishing.ts";
import { AppError, boundedText, notFound } from "../../runtime/errors.ts";
import { isId } from "../../runtime/ids.ts";
import { isMakerActive } from "../../people/people.ts";
import { invalidGrant, type Grant } from "../../tenants/tenants.ts";
import {
  recordDenial,
  identify,
  keyOrSession,
  profilesOfHeaders,
  requestScope,
  requireEnabled,
  rule,
  type Access,
  type AccessRequest,
} from "./access.ts";

/** Returns the profile that the path or a header names. Null when none does, and undefined when they disagree. */
function namedProfile({ headers, params }: AccessRequest): string | null | undefined {
  const named = [...profilesOfHeaders(headers), params["profileId"] ?? ""].filter(
    (text) => text !== "",
  );
  return new Set(named).size > 1 ? undefined : (named[0] ?? null);
}

/** Returns the grant in the request, if it is valid. One that doesn't fit is refused instead of ignored. */
async function grantOf(
  request: AccessRequest,
  caller: ApiKeyCaller,
  profileId: string,
): Promise<Grant | undefined> {
  const token = request.headers.get("x-profile-grant")?.trim() ?? "";
  if (token === "") return undefined;
  const grant = await request.services.tenants.secrets.grants.verify(token);
  const wanted = { platformId: caller.platformId, applicationId: caller.applicationId, profileId };
  for (const name of ["platformId", "applicationId", "profileId"] as const) {
    const [expected, found] = [wanted[name], grant[name]];
    if (found !== expected)
      throw invalidGrant({ check: name, expected: boundedText(expected), found });
  }
  const minter = { platformId: grant.platformId, maker: grant.mintedBy };
  if (!(await isMakerActive(request.rows, minter, request.services.clock.now())))
    throw invalidGrant({
      check: "minted by",
      expected: "an active key, or a session that was not ended",
      found: grant.mintedBy.id,
    });
  return grant;
}

async function resolveProfile(request: AccessRequest) {
  const profileId = namedProfile(request);
  const { caller, application, profile } = await identify(request, profileId);
  if (profileId === null)
    throw new AppError("profile_header_required", "Name the profile with the X-Profile-Id header.");
  const source = request.params["profileId"] === undefined ? "the X-Profile-Id header" : undefined;
  if (profileId === undefined) throw notFound(source);
  // A wrong grant is a wrong credential, so it is refused before the answer says anything about the profile.
  const isRestricted = caller.kind === "api_key" && caller.keyScope === "restricted";
  const grant = isRestricted ? await grantOf(request, caller, profileId) : undefined;
  if (profile === undefined) throw notFound(source);
  if (application !== undefined && profile.applicationId !== application.id) throw notFound(source);
  if (isRestricted && grant === undefined && !caller.allowedProfileIds.includes(profileId))
    throw recordDenial(
      request,
      caller,
      "profile_not_allowed",
      "The key may not act for this profile. Add it to the key's allowlist or send a profile grant.",
    );
  const scope: ProfileScope = {
    ...requestScope(request),
    caller,
    platformId: caller.platformId,
    applicationId: profile.applicationId,
    profileId: profile.id,
    ...(grant && { grantedBy: grant.mintedBy }),
  };
  return { scope, profile, application };
}

/**
 * Admits callers who may act for the profile, by a key of its application or a session of its platform. A restricted
 * key needs the profile on its allowlist, or a grant.
 */
export const profileScope = rule(
  "profileScope",
  async (request) => (await resolveProfile(request)).scope,
);

/** Admits like `profileScope`, while profile and application are active: to publish, validate and connect. */
export const activeProfileScope = rule("activeProfileScope", async (request) => {
  const { scope, profile, application } = await resolveProfile(request);
  const owner =
    application ?? (await request.rows.application(scope.platformId, profile.applicationId));
  if (owner === undefined) throw notFound();
  requireEnabled(request, scope.caller, owner);
  if (profile.status !== "active")
    throw recordDenial(request, scope.caller, "profile_disabled", "The profile is disabled.");
  return scope;
});

/**
 * Admits like `activeProfileScope` and adds the profile's connections. They are read in the same round trip as the
 * caller's rows, if the platform is known before.
 */
export const publishingScope: Access<PublishingScope> = {
  ...activeProfileScope,
  async resolve(request) {
    const profileId = namedProfile(request);
    const { rows } = request;
    const { platformId } = rows;
    const isProfile = typeof profileId === "string" && isId("profile", profileId);
    const [scope, early] = await Promise.all([
      activeProfileScope.resolve(request),
      isProfile && platformId !== undefined ? rows.connections(platformId, profileId) : undefined,
    ]);
    const connections = early ?? (await rows.connections(scope.platformId, scope.profileId));
    return { ...scope, connections };
  },
};

/**
 * Admits like `publishingScope`, to accept a post. Cached rows count too: the accepting transaction compares versions.
 */
export const acceptingScope: Access<AcceptingScope> = {
  ...publishingScope,
  onCachedRows: "compared",
  async resolve(request) {
    const { accessVersion, areCached } = request.rows;
    return { ...(await publishingScope.resolve(request)), accessVersion, areCached };
  },
};

/** Admits like `profileScope`, to read. Cached rows are used too, and the version is read in parallel. */
export const readingScope: Access<ProfileScope> = { ...profileScope, onCachedRows: "in_parallel" };

/**
 * Admits like `readingScope` where a profile is named. Without one, admits app_admin keys, and sessions that name the
 * application, to read what all its profiles have.
 */
export const profileOrApplication: Access<ProfileScope | ApplicationScope> = {
  ...rule("profileOrApplication", async (request) => {
    if (namedProfile(request) !== null) return await profileScope.resolve(request);
    const scope = await keyOrSession.resolve(request);
    const { caller } = scope;
    if (caller.kind === "api_key" && caller.keyScope === "restricted")
      throw new AppError(
        "profile_header_required",
        "A restricted key names the profile with the X-Profile-Id header.",
      );
    return inApplication(scope);
  }),
  onCachedRows: "in_parallel",
};

/**
 * Admits callers who may act for the profile of the connect session in the path. The caller is checked before the
 * session is read, and another platform's session is not found.
 */
export const connectSessionScope = rule("connectSessionScope", async (request) => {
  const { platformId } = await keyOrSession.resolve(request);
  const id = request.params["sessionId"] ?? "";
  const profileId = await profileOfSession(request.services.connections, { platformId, id });
  // A caller who names another profile must not learn to which one the session belongs.
  if (profilesOfHeaders(request.headers).some((named) => named !== profileId))
    throw notFound("that the X-Profile-Id header names the session's profile, or leave it out");
  return await profileScope.resolve({ ...request, params: { profileId } });
});
