import { type AccessRows, verifySession } from "../../people/people.ts";
import { type Application, verifyKey, type Profile } from "../../tenants/tenants.ts";
import type { ApiKeyCaller, Caller, SessionCaller } from "../../callers/caller.ts";
import { invalidCredentials, readCredential, sessionExpired } from "../../callers/credential.ts";
import {
  inApplication,
  type ApplicationScope,
  type PlatformScope,
  type RequestScope,
  type SessionScope,
} from "../../callers/scope.ts";
import { chooseLocale } from "../../runtime/locale.ts";
import { AppError, notFound, type ErrorCode } from "../../runtime/errors.ts";
import type { HttpDeps } from "../deps.ts";
import { ACCESS_CONTRACTS, type AccessContract } from "./access-contract.ts";
import type { RequestLimits } from "../rate-limit.ts";

/** What an access rule checks. */
export interface AccessRequest {
  readonly services: HttpDeps;
  readonly headers: Headers;
  readonly isRead: boolean;
  /** Whether the rule admits a user whose email is not verified. */
  readonly admitsUnverified?: true;
  readonly params: Readonly<Record<string, string>>;
  readonly requestId: string;
  readonly ip: string;
  readonly limits: RequestLimits;
  /** The rows that the caller is checked against. */
  readonly rows: AccessRows;
}

/** Says who may call a route. Only `resolve` makes scopes. @throws AppError 400, 401, 403, 404 or 429 */
export interface Access<Scope> {
  /** Name of the rule in the reference and in the tests' access matrix. */
  readonly name: string;
  /** What the rule requires of callers, for the reference. */
  readonly contract: AccessContract;
  /**
   * How a request may be answered on rows cached from earlier ones. By default it needs rows that are read for it.
   * `compared`: the verb compares the access version in its transaction. `in_parallel`: the version is read while the
   * verb reads.
   */
  readonly onCachedRows?: "compared" | "in_parallel";
  resolve(request: AccessRequest): Promise<Scope> | Scope;
}

/** Makes a rule with the contract of the same name. */
export const rule = <Scope>(
  name: keyof typeof ACCESS_CONTRACTS,
  resolve: Access<Scope>["resolve"],
): Access<Scope> => ({ name, contract: ACCESS_CONTRACTS[name], resolve });

export const requestScope = ({ requestId, ip, headers }: AccessRequest): RequestScope => ({
  requestId,
  ip,
  locale: chooseLocale(headers.get("accept-language")),
});

/** Admits everybody, without checking a credential. */
export const anyone = rule("anyone", requestScope);

/** Admits everybody, for logging in and signing up, with a limit by address. */
export const signingIn: Access<RequestScope> = {
  name: "anyone",
  contract: ACCESS_CONTRACTS.signingIn,
  async resolve(request) {
    await request.limits.admitAddress("sign_in");
    return requestScope(request);
  },
};

/** Admits everybody, to the pages of links that were mailed, with a limit by address. */
export const openingLink: Access<RequestScope> = {
  ...signingIn,
  async resolve(request) {
    await request.limits.admitAddress("link_page");
    return requestScope(request);
  },
};

/** Records and returns a 403, which tells a known caller the reason. A 404, which reveals nothing, is not recorded. */
export function recordDenial(
  request: AccessRequest,
  caller: Caller,
  code: ErrorCode,
  message: string,
): AppError {
  return recordRefusal(request, caller, new AppError(code, message));
}

/** Records and returns a refusal, which tells a known caller the reason. On cached rows nobody is told. */
export function recordRefusal(request: AccessRequest, caller: Caller, error: AppError): AppError {
  if (request.rows.areCached) return error;
  const owner = caller.kind === "api_key" || caller.kind === "session" ? caller : undefined;
  request.services.audit.record(
    { ...requestScope(request), caller },
    {
      action: `access.${error.code}`,
      outcome: "denied",
      ...(owner === undefined ? {} : { platformId: owner.platformId }),
      ...(caller.kind === "api_key" ? { applicationId: caller.applicationId } : {}),
    },
  );
  return error;
}

interface NamedScope {
  readonly applicationId: string | null;
  readonly profileId: string | null;
}

/** Reads the rows that access is checked against, in one round trip. */
async function readTenancy(
  rows: AccessRows,
  platformId: string,
  { applicationId, profileId }: NamedScope,
) {
  const [platform, application, profile] = await Promise.all([
    rows.platform(platformId),
    applicationId === null ? undefined : rows.application(platformId, applicationId),
    profileId === null ? undefined : rows.profile(platformId, profileId),
  ]);
  return { platform, application, profile };
}

/** Finds the caller by the credential, and reads the rows that caller and request name. */
async function authenticate({ services, headers, limits, rows }: AccessRequest, named: NamedScope) {
  const credential = readCredential(headers);
  const { kind, text } = credential;
  limits.present(credential);
  const verified =
    kind === "api_key"
      ? await verifyKey(services.tenants, { presented: text, rows }, ({ platformId }) =>
          readTenancy(rows, platformId, { ...named, applicationId: null }),
        )
      : await verifySession(services.people, { token: text, rows }, (platformId) =>
          readTenancy(rows, platformId, named),
        );
  const { caller, alongside: tenancy } = verified;
  await limits.admit(caller);
  return { caller, tenancy, isUnverified: "isUnverified" in verified && verified.isUnverified };
}

export function profilesOfHeaders(headers: Headers): string[] {
  return [headers.get("x-profile-id"), headers.get("profile-id")]
    .map((text) => text?.trim() ?? "")
    .filter((text) => text !== "");
}

/** A caller with the rows that say what it may do. */
export interface IdentifiedCaller {
  readonly caller: ApiKeyCaller | SessionCaller;
  /** The application that a key belongs to or a session names. */
  readonly application: Pick<Application, "id" | "status"> | undefined;
  readonly profile: Profile | undefined;
}

/** Identifies the caller and requires what every route needs: a credential, an active platform and application. */
export async function identify(
  request: AccessRequest,
  profileId: string | null = null,
): Promise<IdentifiedCaller> {
  const applicationId = request.headers.get("x-application-id")?.trim() || null;
  const { caller, tenancy, isUnverified } = await authenticate(request, {
    applicationId,
    profileId,
  });
  const { platform, profile } = tenancy;
  if (platform === undefined) {
    const found = { check: "platform", expected: "a platform", found: caller.platformId };
    throw caller.kind === "session" ? sessionExpired(found) : invalidCredentials(found);
  }
  if (platform.status === "suspended")
    throw recordDenial(request, caller, "platform_suspended", "The platform is suspended.");
  if (platform.status === "closed")
    throw recordDenial(request, caller, "platform_closed", "The platform is closed.");
  // Until then, a user may only read.
  if (isUnverified && !request.isRead && request.admitsUnverified !== true)
    throw recordDenial(
      request,
      caller,
      "email_unverified",
      "Verify your email first: follow the link that was mailed to you. POST /v1/auth/verify/resend sends it again.",
    );
  let application: IdentifiedCaller["application"] = tenancy.application;
  if (caller.kind === "api_key") {
    // A key always has its application, since none is ever removed.
    const id = caller.applicationId;
    const isDisabled = platform.disabledApplicationIds.includes(id);
    application = { id, status: isDisabled ? "disabled" : "active" };
    requireEnabled(request, caller, application);
  } else if (applicationId !== null && application === undefined)
    throw notFound("the X-Application-Id header");
  // Before the answer says anything about either of two profiles.
  const path = request.params["profileId"];
  const header = profilesOfHeaders(request.headers).find((named) => named !== path);
  if (path !== undefined && header !== undefined)
    throw new AppError(
      "profile_header_mismatch",
      "X-Profile-Id and the path name different profiles. Leave out the header, or send the same id.",
      { details: { header, path } },
    );
  return { caller, application, profile };
}

/** Refuses a disabled application. @throws AppError `application_disabled` */
export function requireEnabled(
  request: AccessRequest,
  caller: Caller,
  application: Pick<Application, "status">,
): void {
  if (application.status === "disabled")
    throw recordDenial(request, caller, "application_disabled", "The application is disabled.");
}

async function platformScope(request: AccessRequest): Promise<PlatformScope> {
  const { caller, application } = await identify(request);
  const applicationId = application?.id ?? null;
  return { ...requestScope(request), caller, platformId: caller.platformId, applicationId };
}

async function adminScope(request: AccessRequest): Promise<PlatformScope> {
  const scope = await platformScope(request);
  const { caller } = scope;
  if (caller.kind === "api_key" && caller.keyScope === "restricted")
    throw recordDenial(
      request,
      caller,
      "app_admin_required",
      "A restricted key may not do this. Use an app_admin key or a session.",
    );
  return scope;
}

/** Admits any key, or a session, which may name one of its applications. */
export const keyOrSession = rule("keyOrSession", platformScope);

export const appAdmin = rule("appAdmin", adminScope);

/** Admits an app_admin key, or a session that names the application. */
export const appAdminOfApplication = rule("appAdminOfApplication", async (request) =>
  inApplication(await adminScope(request)),
);

/** Admits an app_admin key of the application in the path, or a session of its platform, to read. */
export const appAdminInPath: Access<ApplicationScope> = {
  ...rule("appAdminInPath", async (request) => {
    const scope = await adminScope(request);
    const applicationId = request.params["applicationId"] ?? "";
    const { platformId } = scope;
    // That of a key, or the one that a session names. Another one isn't there for this caller.
    const own =
      scope.applicationId ?? (await request.rows.application(platformId, applicationId))?.id;
    if (own !== applicationId) throw notFound();
    return { ...scope, applicationId };
  }),
  onCachedRows: "in_parallel",
};

/** Admits any key, or a session that names the application. */
export const keyOrSessionOfApplication = rule("keyOrSessionOfApplication", async (request) =>
  inApplication(await platformScope(request)),
);

async function sessionScope(request: AccessRequest): Promise<SessionScope> {
  const scope = await platformScope(request);
  const { caller } = scope;
  if (caller.kind === "session") return { ...scope, caller };
  throw recordDenial(
    request,
    caller,
    "session_required",
    "This needs a dashboard session, not an API key.",
  );
}

export const sessionOnly = rule("sessionOnly", sessionScope);

/** Admits a session, even of a user whose email is not verified. */
export const anySession = rule("anySession", (request) =>
  sessionScope({ ...request, admitsUnverified: true }),
);
