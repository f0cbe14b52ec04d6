import type { ErrorCode } from "../../runtime/errors.ts";
import type { RequestHeader } from "../headers.ts";

export type CredentialKind = "apiKey" | "session" | "operator";

/** What callers have to know about an access rule: what it requires, and how it refuses. */
export interface AccessContract {
  /** Who may call, for the reference. */
  readonly callers: string;
  /** The kinds of credentials that are accepted. Empty when no credential is required. */
  readonly credentials: readonly CredentialKind[];
  readonly headers: readonly { readonly name: RequestHeader; readonly required: boolean }[];
  readonly errors: readonly ErrorCode[];
}

/** Errors of the service itself, possible wherever storage is read. */
const OURS = ["internal_error", "service_unavailable"] as const;

const PRODUCT_ERRORS = [
  "unauthenticated",
  "invalid_credentials",
  "api_key_revoked",
  "api_key_expired",
  "session_expired",
  "application_disabled",
  "platform_suspended",
  "platform_closed",
  "email_unverified",
  // When a session names an application that its platform doesn't have.
  "not_found",
  "rate_limited",
  ...OURS,
] as const satisfies readonly ErrorCode[];

const applicationHeader = { name: "X-Application-Id", required: false } as const;
const grantHeader = { name: "X-Profile-Grant", required: false } as const;

function product(
  callers: string,
  errors: readonly ErrorCode[],
  credentials: readonly CredentialKind[] = ["apiKey", "session"],
): AccessContract {
  const headers = [applicationHeader];
  return { callers, credentials, headers, errors: [...PRODUCT_ERRORS, ...errors] };
}

function ofProfile(callers: string, errors: readonly ErrorCode[]): AccessContract {
  const { credentials, headers, errors: common } = product(callers, errors);
  return {
    callers,
    credentials,
    headers: [{ name: "X-Profile-Id", required: true }, ...headers, grantHeader],
    errors: [...common, "profile_header_required", "invalid_grant_token", "profile_not_allowed"],
  };
}

/** Returns the contract of a rule that never refuses with these codes. */
export function withoutErrors(
  contract: AccessContract,
  codes: readonly ErrorCode[],
): AccessContract {
  return { ...contract, errors: contract.errors.filter((code) => !codes.includes(code)) };
}

/** Returns the contract for callers who may leave out the profile's header. */
function optionalProfile(contract: AccessContract): AccessContract {
  const headers = contract.headers.map(({ name }) => ({ name, required: false }));
  return { ...contract, headers };
}

/** Returns the contract for a path that names the profile, so that the header may be left out. */
export const withProfileInPath = (contract: AccessContract): AccessContract =>
  withoutErrors(optionalProfile(contract), ["profile_header_required"]);

/** Contracts by the name of the rule in `access.ts`. That of operators depends on the roles. */
export const ACCESS_CONTRACTS = {
  anyone: { callers: "anyone", credentials: [], headers: [], errors: ["internal_error"] },
  signingIn: { callers: "anyone", credentials: [], headers: [], errors: ["rate_limited", ...OURS] },
  keyOrSession: product("an API key or a session", []),
  appAdmin: product("an `app_admin` API key or a session", ["app_admin_required"]),
  appAdminOfApplication: product(
    "an `app_admin` API key, or a session that names the application",
    ["app_admin_required", "application_header_required"],
  ),
  appAdminInPath: product(
    "an `app_admin` API key of the application, or a session of its platform",
    ["app_admin_required"],
  ),
  keyOrSessionOfApplication: product("an API key, or a session that names the application", [
    "application_header_required",
  ]),
  sessionOnly: product("a session", ["session_required"], ["session"]),
  anySession: withoutErrors(
    product("a session, also of a user who is not verified", ["session_required"], ["session"]),
    ["email_unverified"],
  ),
  profileScope: ofProfile("an API key or a session that may act for the profile", []),
  activeProfileScope: ofProfile(
    "an API key or a session that may act for the profile, while the profile is active",
    ["profile_disabled"],
  ),
  profileOrApplication: optionalProfile(
    ofProfile(
      "an API key or a session that may act for the profile; without a profile, an `app_admin` API key or a session that names the application",
      ["application_header_required"],
    ),
  ),
  connectSessionScope: withProfileInPath(
    ofProfile("an API key or a session that may act for the connect session's profile", []),
  ),
} as const satisfies Readonly<Record<string, AccessContract>>;

export function operatorContract(roles: readonly string[]): AccessContract {
  const errors: readonly ErrorCode[] = [
    "unauthenticated",
    "invalid_credentials",
    "rate_limited",
    ...OURS,
  ];
  const role = roles.length === 0 ? "" : ` with the role ${roles.join(" or ")}`;
  return {
    callers: `an operator${role}`,
    credentials: ["operator"],
    headers: [],
    errors: roles.length === 0 ? errors : [...errors, "role_required"],
  };
}
