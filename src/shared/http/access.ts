import type { Platform } from "../accounts/platform.ts";
import { verifySession } from "../accounts/verify-session.ts";
import type { Application } from "../applications/application.ts";
import { recordAudit } from "../audit/record.ts";
import type { ApiKeyCaller, Caller, SessionCaller } from "../callers/caller.ts";
import { invalidCredentials, readCredential } from "../callers/credential.ts";
import type {
  ApplicationScope,
  OperatorScope,
  PlatformScope,
  ProfileScope,
  RequestScope,
  SessionScope,
} from "../callers/scope.ts";
import { AppError, notFound, type ErrorCode } from "../errors.ts";
import { isMinterAlive } from "../keys/is-minter-alive.ts";
import { verifyKey } from "../keys/verify-key.ts";
import { invalidGrant } from "../profiles/grant.ts";
import type { Profile } from "../profiles/profile.ts";
import type { Services } from "../services.ts";
import { ACCESS_CONTRACTS, operatorContract, type AccessContract } from "./access-contract.ts";
import type { RequestLimits } from "./rate-limit.ts";

/** What access is judged on. */
export interface AccessRequest {
  readonly services: Services;
  readonly headers: Headers;
  readonly params: Readonly<Record<string, string>>;
  readonly requestId: string;
  readonly ip: string;
  readonly limits: RequestLimits;
}

/** Who may call a route. `resolve` is the only maker of scopes. @throws AppError 400, 401, 403, 404 or 429 */
export interface Access<Scope> {
  /** Names the rule in the reference and in the access matrix of the tests. */
  readonly name: string;
  /** What the rule asks of callers, for the reference. */
  readonly contract: AccessContract;
  resolve(request: AccessRequest): Promise<Scope> | Scope;
}

const requestScope = ({ requestId, ip }: AccessRequest): RequestScope => ({ requestId, ip });

/** No credential is asked for and none is looked at. */
export const anyone: Access<RequestScope> = {
  name: "anyone",
  contract: ACCESS_CONTRACTS.anyone,
  resolve: requestScope,
};

/** Like `anyone`, for signing in and up: limited by address. */
export const signingIn: Access<RequestScope> = {
  name: "anyone",
  contract: ACCESS_CONTRACTS.signingIn,
  async resolve(request) {
    await request.limits.admitAddress();
    return requestScope(request);
  },
};

/** A 403: the caller is known and told why. Recorded, unlike a 404, which tells nothing. */
function denied(
  request: AccessRequest,
  caller: Caller,
  code: ErrorCode,
  message: string,
): AppError {
  const owner = caller.kind === "api_key" || caller.kind === "session" ? caller : undefined;
  recordAudit(
    request.services,
    { ...requestScope(request), caller },
    {
      action: `access.${code}`,
      outcome: "denied",
      ...(owner === undefined ? {} : { platformId: owner.platformId }),
      ...(caller.kind === "api_key" ? { applicationId: caller.applicationId } : {}),
    },
  );
  return new AppError(code, message);
}

/** The rows that access is judged on, read side by side. */
interface Tenancy {
  readonly platform: Platform | undefined;
  /** The one that a key is bound to or a session named. */
  readonly application: Application | undefined;
  readonly profile: Profile | undefined;
}

async function readTenancy(
  services: Services,
  platformId: string,
  named: { readonly applicationId: string | null; readonly profileId: string | null },
): Promise<Tenancy> {
  const { applicationId, profileId } = named;
  const [platform, application, profile] = await Promise.all([
    services.platforms.find(platformId),
    applicationId === null ? undefined : services.applications.find(platformId, applicationId),
    profileId === null ? undefined : services.profiles.find(platformId, profileId),
  ]);
  return { platform, application, profile };
}

interface Identified {
  readonly caller: ApiKeyCaller | SessionCaller;
  readonly tenancy: Tenancy;
}

/** Whose credential it is, with the rows that it and the request name. */
async function authenticate(
  { services, headers, limits }: AccessRequest,
  named: { readonly applicationId: string | null; readonly profileId: string | null },
): Promise<Identified> {
  const credential = readCredential(headers);
  const { kind, text } = credential;
  limits.present(credential);
  const { caller, alongside: tenancy } =
    kind === "api_key"
      ? await verifyKey(services, text, ({ platformId, applicationId }) =>
          readTenancy(services, platformId, { ...named, applicationId }),
        )
      : await verifySession(services, text, (platformId) =>
          readTenancy(services, platformId, named),
        );
  await limits.admit(caller);
  return { caller, tenancy };
}

/** Who asks, with everything that holds for all routes judged: live credential, live platform, own application. */
async function identify(
  request: AccessRequest,
  profileId: string | null = null,
): Promise<Identified> {
  const applicationId = request.headers.get("x-application-id")?.trim() || null;
  const identified = await authenticate(request, { applicationId, profileId });
  const { caller, tenancy } = identified;
  const { platform, application } = tenancy;
  if (platform === undefined) throw invalidCredentials();
  if (platform.status === "suspended")
    throw denied(request, caller, "platform_suspended", "The platform is suspended.");
  if (caller.kind === "api_key") {
    if (application === undefined) throw invalidCredentials();
    requireEnabled(request, caller, application);
  } else if (applicationId !== null && application === undefined) throw notFound();
  return identified;
}

function requireEnabled(request: AccessRequest, caller: Caller, application: Application): void {
  if (application.status === "disabled")
    throw denied(request, caller, "application_disabled", "The application is disabled.");
}

function requireAppAdmin(request: AccessRequest, caller: ApiKeyCaller | SessionCaller): void {
  if (caller.kind === "api_key" && caller.keyScope === "restricted")
    throw denied(
      request,
      caller,
      "app_admin_required",
      "A restricted key may not do this. Use an app_admin key or a session.",
    );
}

async function platformScope(request: AccessRequest): Promise<PlatformScope> {
  const { caller, tenancy } = await identify(request);
  const applicationId = tenancy.application?.id ?? null;
  return { ...requestScope(request), caller, platformId: caller.platformId, applicationId };
}

function inApplication(scope: PlatformScope): ApplicationScope {
  const { applicationId } = scope;
  if (applicationId !== null) return { ...scope, applicationId };
  throw new AppError(
    "application_header_required",
    "A session names the application with the X-Application-Id header.",
  );
}

async function adminScope(request: AccessRequest): Promise<PlatformScope> {
  const scope = await platformScope(request);
  requireAppAdmin(request, scope.caller);
  return scope;
}

/** Any key, or a session, which may name one of its applications. */
export const keyOrSession: Access<PlatformScope> = {
  name: "keyOrSession",
  contract: ACCESS_CONTRACTS.keyOrSession,
  resolve: platformScope,
};

/** An app_admin key or a session. */
export const appAdmin: Access<PlatformScope> = {
  name: "appAdmin",
  contract: ACCESS_CONTRACTS.appAdmin,
  resolve: adminScope,
};

/** An app_admin key, or a session that names the application. */
export const appAdminOfApplication: Access<ApplicationScope> = {
  name: "appAdminOfApplication",
  contract: ACCESS_CONTRACTS.appAdminOfApplication,
  resolve: async (request) => inApplication(await adminScope(request)),
};

/** Platform staff; every key is refused. */
export const sessionOnly: Access<SessionScope> = {
  name: "sessionOnly",
  contract: ACCESS_CONTRACTS.sessionOnly,
  async resolve(request) {
    const scope = await platformScope(request);
    const { caller } = scope;
    if (caller.kind === "session") return { ...scope, caller };
    throw denied(
      request,
      caller,
      "session_required",
      "This needs a dashboard session, not an API key.",
    );
  },
};

/** The profile that the request names, by its path or a header; undefined when the two disagree. */
function namedProfile({ headers, params }: AccessRequest): string | null | undefined {
  const named = [headers.get("x-profile-id"), headers.get("profile-id"), params["profileId"]]
    .map((text) => text?.trim() ?? "")
    .filter((text) => text !== "");
  return new Set(named).size > 1 ? undefined : (named[0] ?? null);
}

/** Whether a valid grant was sent. One that is sent and does not fit is refused, never passed over. */
async function hasGrant(
  request: AccessRequest,
  caller: ApiKeyCaller,
  profileId: string,
): Promise<boolean> {
  const token = request.headers.get("x-profile-grant")?.trim() ?? "";
  if (token === "") return false;
  const grant = await request.services.grants.verify(token);
  const fits =
    grant.platformId === caller.platformId &&
    grant.applicationId === caller.applicationId &&
    grant.profileId === profileId;
  if (!fits || !(await isMinterAlive(request.services, grant))) throw invalidGrant();
  return true;
}

async function mayActFor(
  request: AccessRequest,
  caller: ApiKeyCaller | SessionCaller,
  profileId: string,
): Promise<boolean> {
  if (caller.kind === "session" || caller.keyScope === "app_admin") return true;
  return (
    (await hasGrant(request, caller, profileId)) || caller.allowedProfileIds.includes(profileId)
  );
}

interface FoundProfile {
  readonly scope: ProfileScope;
  readonly profile: Profile;
  readonly application: Application | undefined;
}

async function resolveProfile(request: AccessRequest): Promise<FoundProfile> {
  const profileId = namedProfile(request);
  const { caller, tenancy } = await identify(request, profileId);
  const { application, profile } = tenancy;
  if (profileId === null)
    throw new AppError("profile_header_required", "Name the profile with the X-Profile-Id header.");
  if (profileId === undefined) throw notFound();
  // A bad grant is a bad credential, so it is refused before anything is said about the profile.
  const allowed = await mayActFor(request, caller, profileId);
  if (profile === undefined) throw notFound();
  if (application !== undefined && profile.applicationId !== application.id) throw notFound();
  if (!allowed)
    throw denied(
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
  };
  return { scope, profile, application };
}

/** A profile of the caller's application; of a session's platform. A restricted key needs its allowlist or a grant. */
export const profileScope: Access<ProfileScope> = {
  name: "profileScope",
  contract: ACCESS_CONTRACTS.profileScope,
  resolve: async (request) => (await resolveProfile(request)).scope,
};

/** Like `profileScope`, for what a disabled profile or application may not do: publish, validate, connect. */
export const activeProfileScope: Access<ProfileScope> = {
  name: "activeProfileScope",
  contract: ACCESS_CONTRACTS.activeProfileScope,
  async resolve(request) {
    const { scope, profile, application } = await resolveProfile(request);
    const { services } = request;
    const owner =
      application ?? (await services.applications.find(scope.platformId, profile.applicationId));
    if (owner === undefined) throw notFound();
    requireEnabled(request, scope.caller, owner);
    if (profile.status === "disabled")
      throw denied(request, scope.caller, "profile_disabled", "The profile is disabled.");
    return scope;
  },
};

export type OperatorRole = "Admin" | "Operator";

/** A token of the operators' identity provider with one of the roles; without roles, any valid one. */
export function operator(...roles: readonly OperatorRole[]): Access<OperatorScope> {
  return {
    name: roles.length === 0 ? "operator" : `operator(${roles.join(", ")})`,
    contract: operatorContract(roles),
    async resolve(request) {
      const credential = readCredential(request.headers);
      request.limits.present(credential);
      if (credential.kind === "api_key") throw invalidCredentials();
      const caller = await request.services.operators.verify(credential.text);
      await request.limits.admit(caller);
      if (roles.length > 0 && !roles.some((role) => caller.roles.includes(role)))
        throw denied(
          request,
          caller,
          "role_required",
          `This needs the role ${roles.join(" or ")}.`,
        );
      return { ...requestScope(request), caller };
    },
  };
}
