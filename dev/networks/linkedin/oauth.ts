import { randomBytes } from "node:crypto";
import { consentErrorPage, consentPage } from "../consent-page.ts";
import type { Choice } from "../consent-page.ts";
import { callbackUrl } from "../consent-request.ts";
import { Refusal, htmlPage, json } from "../exchange.ts";
import type { Answer, Exchange } from "../exchange.ts";
import { keep } from "../kept-maps.ts";
import type { Route } from "../network.ts";
import { fullName, newTokenText } from "./state.ts";
import type { App, Grant, LinkedInShared } from "./state.ts";

const CODE_MS = 30 * 60 * 1000;
const TOKEN_SECONDS = 60 * 24 * 3600;
const REFRESH_SECONDS = 365 * 24 * 3600;

const SCOPES: Readonly<Record<string, string>> = {
  openid: "Use your name and photo",
  profile: "Use your name and photo",
  email: "Use the primary email address of your account",
  w_member_social: "Create, modify and delete posts on your behalf",
  r_basicprofile: "Use your basic profile",
  w_organization_social: "Create, modify and delete posts on your organization's behalf",
  r_organization_social: "Retrieve your organization's posts",
  rw_organization_admin: "Manage your organization's page",
};

interface Asked {
  readonly appId: string;
  readonly app: App;
  readonly redirectUri: string;
  readonly scopes: string[];
}

function deadEnd(message: string): Refusal {
  return new Refusal(
    htmlPage(400, consentErrorPage("linkedin", "Bummer, something went wrong.", message)),
  );
}

function back(exchange: Exchange, redirectUri: string, parameters: Record<string, string>): Answer {
  return { status: 303, headers: { location: callbackUrl(exchange, redirectUri, parameters) } };
}

function isRedirect(address: string): boolean {
  return URL.canParse(address) && /^https?:$/.test(new URL(address).protocol);
}

function readAsked(shared: LinkedInShared, exchange: Exchange): Asked {
  const { query } = exchange;
  const appId = query.get("client_id") ?? "";
  const app = shared.state.apps.get(appId);
  if (app === undefined) throw deadEnd("The passed in client_id is invalid");
  const redirectUri = query.get("redirect_uri") ?? "";
  if (!isRedirect(redirectUri))
    throw deadEnd("The redirect_uri does not match the registered value");
  const fail = (error: string, error_description: string) =>
    new Refusal(back(exchange, redirectUri, { error, error_description }));
  if (query.get("response_type") !== "code")
    throw fail("invalid_request", "The response_type must be code");
  const scopes = (query.get("scope") ?? "").split(/[\s,]+/).filter((scope) => scope !== "");
  const unknown = scopes.find((scope) => !app.scopes.includes(scope));
  if (unknown !== undefined || scopes.length === 0)
    throw fail(
      "unauthorized_scope_error",
      `Scope "${unknown ?? ""}" is not authorized for your application`,
    );
  return { appId, app, redirectUri, scopes };
}

function question(shared: LinkedInShared, exchange: Exchange): string {
  const { scopes } = readAsked(shared, exchange);
  const members = shared.state.members.map((member, index): Choice => {
    const pages = shared.state.organizations.filter(({ roles }) => member.id in roles);
    const hint =
      pages.length === 0 ? "no page" : `page: ${pages.map(({ name }) => name).join(", ")}`;
    const label = fullName(member);
    return { kind: "radio", name: "account", value: member.id, label, hint, checked: index === 0 };
  });
  const wishes = [...new Set(scopes.map((scope) => SCOPES[scope] ?? scope))];
  return consentPage({
    network: "linkedin",
    host: "www.linkedin.com",
    title: "Allow access to your LinkedIn account?",
    wishes,
    groups: [{ legend: "As", choices: members }],
    action: `${exchange.path}?${exchange.query.toString()}`,
    buttons: [
      { value: "allow", label: "Allow" },
      { value: "deny", label: "Cancel" },
      { value: "no_login", label: "Don't sign in" },
    ],
  });
}

function decide(shared: LinkedInShared, exchange: Exchange): Answer {
  const { appId, redirectUri, scopes } = readAsked(shared, exchange);
  const form = new URLSearchParams(exchange.body.toString("utf8"));
  const decision = form.get("decision");
  if (decision !== "allow") {
    const isLogin = decision === "no_login";
    return back(exchange, redirectUri, {
      error: isLogin ? "user_cancelled_login" : "user_cancelled_authorize",
      error_description: isLogin
        ? "The user cancelled LinkedIn login"
        : "The user cancelled the authorization",
    });
  }
  const memberId = form.get("account") ?? shared.state.members[0]?.id ?? "";
  if (!shared.state.members.some(({ id }) => id === memberId))
    throw deadEnd("There is no such member");
  const code = `AQ${randomBytes(100).toString("base64url")}`;
  const expiresAt = shared.now() + CODE_MS;
  keep(shared.state.codes, code, { appId, memberId, scopes, redirectUri, expiresAt });
  return back(exchange, redirectUri, { code });
}

function oauthRefusal(status: number, error: string, description: string): Refusal {
  return new Refusal(json(status, { error, error_description: description }));
}

/** Asking for other scopes than before ends the member's older tokens for the app. */
function endOthers(shared: LinkedInShared, grant: Grant): void {
  const scopes = [...grant.scopes].sort().join(" ");
  for (const tokens of [shared.state.tokens, shared.state.refreshTokens])
    for (const token of tokens.values()) {
      const isSame = token.appId === grant.appId && token.memberId === grant.memberId;
      if (isSame && [...token.scopes].sort().join(" ") !== scopes) token.isRevoked = true;
    }
}

export function issueToken(shared: LinkedInShared, grant: Grant): string {
  const text = newTokenText();
  const { appId, memberId, scopes } = grant;
  const expiresAt = shared.now() + TOKEN_SECONDS * 1000;
  keep(shared.state.tokens, text, {
    appId,
    memberId,
    scopes: [...scopes],
    expiresAt,
    isRevoked: false,
  });
  return text;
}

function tokenAnswer(
  shared: LinkedInShared,
  grant: Grant,
  refresh: { readonly text: string; readonly until: number } | undefined,
): Answer {
  return json(200, {
    access_token: issueToken(shared, grant),
    expires_in: TOKEN_SECONDS,
    scope: grant.scopes.join(","),
    token_type: "Bearer",
    ...(refresh === undefined
      ? {}
      : {
          refresh_token: refresh.text,
          refresh_token_expires_in: Math.round((refresh.until - shared.now()) / 1000),
        }),
  });
}

function exchangeCode(
  shared: LinkedInShared,
  form: URLSearchParams,
  client: { readonly appId: string; readonly app: App },
): Answer {
  const sent = form.get("code") ?? "";
  const code = shared.state.codes.get(sent);
  const isGood =
    code?.appId === client.appId &&
    code.redirectUri === form.get("redirect_uri") &&
    code.expiresAt > shared.now();
  if (code === undefined || !isGood)
    throw oauthRefusal(
      400,
      "invalid_request",
      "Unable to retrieve access token: appid/redirect uri/code verifier does not match authorization code. Or authorization code expired. Or external member binding exists",
    );
  shared.state.codes.delete(sent);
  endOthers(shared, code);
  if (!client.app.hasRefreshTokens) return tokenAnswer(shared, code, undefined);
  const text = newTokenText();
  const until = shared.now() + REFRESH_SECONDS * 1000;
  const { appId, memberId, scopes } = code;
  keep(shared.state.refreshTokens, text, {
    appId,
    memberId,
    scopes,
    expiresAt: until,
    isRevoked: false,
  });
  return tokenAnswer(shared, code, { text, until });
}

/** A new access token; the refresh token stays, and its end comes no later for it. */
function refresh(shared: LinkedInShared, form: URLSearchParams, appId: string): Answer {
  const text = form.get("refresh_token") ?? "";
  const token = shared.state.refreshTokens.get(text);
  if (token?.appId !== appId || token.isRevoked || token.expiresAt <= shared.now())
    throw oauthRefusal(
      400,
      "invalid_grant",
      "The provided authorization grant or refresh token is invalid, expired or revoked",
    );
  return tokenAnswer(shared, token, { text, until: token.expiresAt });
}

function accessToken(shared: LinkedInShared, exchange: Exchange): Answer {
  const type = (exchange.headers["content-type"] ?? "").toLowerCase();
  if (!type.startsWith("application/x-www-form-urlencoded"))
    throw oauthRefusal(400, "invalid_request", 'A required parameter "grant_type" is missing');
  const form = new URLSearchParams(exchange.body.toString("utf8"));
  const appId = form.get("client_id") ?? "";
  const app = shared.state.apps.get(appId);
  if (app === undefined || form.get("client_secret") !== app.secret)
    throw oauthRefusal(401, "invalid_client", "Client authentication failed");
  switch (form.get("grant_type")) {
    case "authorization_code":
      return exchangeCode(shared, form, { appId, app });
    case "refresh_token":
      return refresh(shared, form, appId);
    default:
      throw oauthRefusal(400, "unsupported_grant_type", "The grant_type is not supported");
  }
}

/** The page on which a member lets an app in, and the tokens that come of it. */
export function oauthRoutes(shared: LinkedInShared): Route[] {
  const route = (
    method: "GET" | "POST",
    path: string,
    name: string,
    run: (exchange: Exchange) => Answer,
  ): Route => ({ method, hosts: ["www.linkedin.com"], path: `/oauth/v2${path}`, name, run });
  return [
    route("GET", "/authorization", "authorization", (exchange) =>
      htmlPage(200, question(shared, exchange)),
    ),
    route("POST", "/authorization", "authorization", (exchange) => decide(shared, exchange)),
    route("POST", "/accessToken", "accessToken", (exchange) => accessToken(shared, exchange)),
  ];
}
