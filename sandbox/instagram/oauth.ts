import { Refusal, json } from "../exchange.ts";
import type { Answer, Exchange } from "../exchange.ts";
import { keep } from "../kept-maps.ts";
import type { Route } from "../network.ts";
import { OAuthProvider, isRedirect, readForm, readQuery } from "../oauth-provider.ts";
import type { CodeProblem } from "../oauth-provider.ts";
import { BASIC, PUBLISH } from "./access.ts";
import { newTokenText } from "./state.ts";
import type { Account, InstagramShared } from "./state.ts";
import { route } from "../network.ts";

const CODE_MS = 3_600_000;
const SHORT_MS = 3_600_000;

const PERMISSIONS: Readonly<Record<string, string>> = {
  [BASIC]: "Access your profile and media",
  [PUBLISH]: "Publish posts, reels and stories",
  instagram_business_manage_comments: "Manage comments",
  instagram_business_manage_messages: "Manage messages",
  instagram_business_manage_insights: "Read your numbers",
};

const KINDS: Readonly<Record<Account["type"], string>> = {
  BUSINESS: "business account",
  MEDIA_CREATOR: "creator account",
  PERSONAL: "personal account",
};

const CODE_PROBLEMS: Readonly<Record<CodeProblem, string>> = {
  unknown: "Invalid authorization code",
  used: "This authorization code has been used",
  expired: "This authorization code has expired",
  redirect:
    "Error validating verification code. Please make sure your redirect_uri is identical to the one you used in the OAuth dialog request",
  verifier: "Invalid authorization code",
};

const invalid = (what: string) => ({
  title: "Invalid Request",
  page: `Request parameters are invalid: Invalid ${what}`,
});

function newProvider(shared: InstagramShared): OAuthProvider {
  const provider: OAuthProvider = new OAuthProvider({
    network: "instagram",
    now: () => shared.now(),
    codes: () => shared.state.codes,
    codeMs: CODE_MS,
    read: (exchange) =>
      readQuery(provider, exchange, {
        allowed: shared.state.apps.has(exchange.query.get("client_id") ?? "")
          ? Object.keys(PERMISSIONS)
          : undefined,
        isRedirect,
        required: BASIC,
        endings: {
          client: invalid("platform app"),
          redirect: invalid("redirect_uri"),
          responseType: invalid("response_type"),
          scope: (unknown) => invalid(`scope: ${JSON.stringify(unknown)}`),
        },
      }),
    page: () => ({ host: "www.instagram.com", title: "Allow access to your Instagram account?" }),
    accounts: () =>
      shared.state.accounts.map(({ userId, username, type }) => {
        return { id: userId, label: `@${username}`, hint: KINDS[type] };
      }),
    words: (permission) => PERMISSIONS[permission] ?? permission,
    isPartial: { always: [BASIC] },
    buttons: { allow: "Allow", deny: "Cancel" },
    denied: () => ({
      error: "access_denied",
      error_reason: "user_denied",
      error_description: "The user denied your request.",
    }),
    // Instagram ends every address that it sends back to so.
    suffix: "#_",
  });
  return provider;
}

function oauthRefusal(message: string): Refusal {
  return new Refusal(
    json(400, { error_type: "OAuthException", code: 400, error_message: message }),
  );
}

export function issueToken(
  shared: InstagramShared,
  grant: {
    readonly appId: string;
    readonly userId: string;
    readonly permissions: readonly string[];
  },
  lifeMs: number,
): string {
  const text = newTokenText();
  const issuedAt = shared.now();
  keep(shared.state.tokens, text, {
    appId: grant.appId,
    userId: grant.userId,
    permissions: [...grant.permissions],
    isLongLived: lifeMs > SHORT_MS,
    issuedAt,
    expiresAt: issuedAt + lifeMs,
    endedBy: null,
  });
  return text;
}

function exchangeCode(
  shared: InstagramShared,
  provider: OAuthProvider,
  exchange: Exchange,
): Answer {
  const form = readForm(exchange);
  const field = (name: string): string => {
    const value = form?.get(name) ?? "";
    if (value === "") throw oauthRefusal(`Missing required field ${name}`);
    return value;
  };
  const appId = field("client_id");
  const secret = shared.state.apps.get(appId);
  if (secret === undefined) throw oauthRefusal("Invalid platform app");
  if (field("client_secret") !== secret) throw oauthRefusal("Error validating client secret.");
  if (field("grant_type") !== "authorization_code")
    throw oauthRefusal("Invalid grant_type: only authorization_code is supported");
  const { accountId: userId, scopes: permissions } = provider.redeem(
    { code: field("code"), clientId: appId, redirectUri: field("redirect_uri") },
    (problem) => oauthRefusal(CODE_PROBLEMS[problem]),
  );
  const access_token = issueToken(shared, { appId, userId, permissions }, SHORT_MS);
  const token = { access_token, user_id: userId };
  // Both shapes are seen: the documented one with a list, and a flat one.
  return shared.state.tokenShape === "data"
    ? json(200, { data: [{ ...token, permissions: permissions.join(",") }] })
    : json(200, { ...token, permissions });
}

/** The page on which a person lets an app in, and the exchange of its code. */
export function oauthRoutes(shared: InstagramShared): Route[] {
  const provider = newProvider(shared);
  return [
    ...provider.routes({
      hosts: ["www.instagram.com"],
      path: "/oauth/authorize",
      name: "authorize",
    }),
    route(
      "POST /oauth/access_token",
      "accessToken",
      (exchange) => exchangeCode(shared, provider, exchange),
      { hosts: ["api.instagram.com"] },
    ),
  ];
}
