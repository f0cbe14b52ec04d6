import { json } from "../exchange.ts";
import type { Answer, Exchange } from "../exchange.ts";
import { keep } from "../kept-maps.ts";
import type { Route } from "../network.ts";
import { OAuthProvider, isRedirect, oauthRefusal, readForm, readQuery } from "../oauth-provider.ts";
import { fullName, newTokenText } from "./state.ts";
import type { Grant, LinkedInShared } from "./state.ts";
import { route } from "../network.ts";

const CODE_MS = 30 * 60 * 1000;
const TOKEN_SECONDS = 60 * 24 * 3600;
const REFRESH_SECONDS = 365 * 24 * 3600;
const TITLE = "Bummer, something went wrong.";

const SCOPES: Readonly<Record<string, string>> = {
  openid: "Use your name and photo",
  profile: "Use your name and photo",
  email: "Use the primary email address of your account",
  w_member_social: "Create, modify and delete posts on your behalf",
  r_basicprofile: "Use your basic profile",
  w_organization_social: "Create, modify and delete posts on your organization's behalf",
  r_organization_social: "Retrieve your organization's posts",
  rw_organization_admin: "Manage your organization's page",
  w_member_social_feed: "Create, modify and delete comments and reactions on your behalf",
  w_organization_social_feed:
    "Create, modify and delete comments and reactions on your organization's behalf",
  r_organization_social_feed: "Retrieve comments and reactions on your organization's posts",
};

function newProvider(shared: LinkedInShared): OAuthProvider {
  const provider: OAuthProvider = new OAuthProvider({
    network: "linkedin",
    now: () => shared.now(),
    codes: () => shared.state.codes,
    codeMs: CODE_MS,
    read: (exchange) =>
      readQuery(provider, exchange, {
        allowed: shared.state.apps.get(exchange.query.get("client_id") ?? "")?.scopes,
        isRedirect,
        endings: {
          client: { title: TITLE, page: "The passed in client_id is invalid" },
          redirect: {
            title: TITLE,
            page: "The redirect_uri does not match the registered value",
          },
          responseType: {
            back: { error: "invalid_request", error_description: "The response_type must be code" },
          },
          scope: ([scope = ""]) => ({
            back: {
              error: "unauthorized_scope_error",
              error_description: `Scope "${scope}" is not authorized for your application`,
            },
          }),
        },
      }),
    page: () => ({ host: "www.linkedin.com", title: "Allow access to your LinkedIn account?" }),
    accounts: () =>
      shared.state.members.map((member) => {
        const pages = shared.state.organizations.filter(({ roles }) => member.id in roles);
        const names = pages.map(({ name }) => name).join(", ");
        const hint = names === "" ? "no page" : `page: ${names}`;
        return { id: member.id, label: fullName(member), hint };
      }),
    words: (scope) => SCOPES[scope] ?? scope,
    buttons: { allow: "Allow", deny: "Cancel", no_login: "Don't sign in" },
    denied: (decision) =>
      decision === "no_login"
        ? {
            error: "user_cancelled_login",
            error_description: "The user cancelled LinkedIn login", // words: quoted
          }
        : {
            error: "user_cancelled_authorize",
            error_description: "The user cancelled the authorization", // words: quoted
          },
  });
  return provider;
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

function issueToken(shared: LinkedInShared, grant: Grant): string {
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

function exchangeCode(
  shared: LinkedInShared,
  provider: OAuthProvider,
  form: URLSearchParams,
): Answer {
  const appId = form.get("client_id") ?? "";
  const { accountId, scopes } = provider.redeem(
    {
      code: form.get("code") ?? "",
      clientId: appId,
      redirectUri: form.get("redirect_uri") ?? "",
    },
    () =>
      oauthRefusal(
        400,
        "invalid_request",
        "Unable to retrieve access token: appid/redirect uri/code verifier does not match authorization code. Or authorization code expired. Or external member binding exists",
      ),
  );
  const { state } = shared;
  const grant = { appId, memberId: accountId, scopes: [...scopes] };
  endOthers(shared, grant);
  if (state.apps.get(appId)?.hasRefreshTokens !== true)
    return tokenAnswer(shared, grant, undefined);
  const text = newTokenText();
  const until = shared.now() + REFRESH_SECONDS * 1000;
  keep(state.refreshTokens, text, { ...grant, expiresAt: until, isRevoked: false });
  return tokenAnswer(shared, grant, { text, until });
}

function accessToken(shared: LinkedInShared, provider: OAuthProvider, exchange: Exchange): Answer {
  const form = readForm(exchange);
  if (form === undefined)
    throw oauthRefusal(400, "invalid_request", 'A required parameter "grant_type" is missing');
  const appId = form.get("client_id") ?? "";
  const app = shared.state.apps.get(appId);
  if (app === undefined || form.get("client_secret") !== app.secret)
    throw oauthRefusal(401, "invalid_client", "Client authentication failed");
  switch (form.get("grant_type")) {
    case "authorization_code":
      return exchangeCode(shared, provider, form);
    case "refresh_token":
      return refresh(shared, form, appId);
    default:
      throw oauthRefusal(400, "unsupported_grant_type", "The grant_type is not supported");
  }
}

/** The page on which a member lets an app in, and the tokens that come of it. */
export function oauthRoutes(shared: LinkedInShared): Route[] {
  const hosts = ["www.linkedin.com"];
  const provider = newProvider(shared);
  return [
    ...provider.routes({ hosts, path: "/oauth/v2/authorization", name: "authorization" }),
    route(
      "POST /oauth/v2/accessToken",
      "accessToken",
      (exchange) => accessToken(shared, provider, exchange),
      { hosts },
    ),
  ];
}
