import { randomBytes } from "node:crypto";
import { consentErrorPage, consentPage, rights } from "../consent-page.ts";
import type { Choice } from "../consent-page.ts";
import { callbackUrl, isRedirect } from "../consent-request.ts";
import type { Asked } from "../consent-request.ts";
import { Refusal, htmlPage, json } from "../exchange.ts";
import type { Answer, Exchange } from "../exchange.ts";
import { readParameters, textParameter } from "../graph/parameters.ts";
import { keep } from "../kept-maps.ts";
import type { Route } from "../network.ts";
import { BASIC, PUBLISH } from "./access.ts";
import { findAccount, newTokenText } from "./state.ts";
import type { Account, Code, InstagramShared } from "./state.ts";

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

function deadEnd(title: string, message: string): Refusal {
  return new Refusal(htmlPage(400, consentErrorPage("instagram", title, message)));
}

function readAsked(shared: InstagramShared, { query }: Exchange): Asked {
  const appId = query.get("client_id") ?? "";
  const redirectUri = query.get("redirect_uri") ?? "";
  if (!shared.state.apps.has(appId))
    throw deadEnd("Invalid Request", "Request parameters are invalid: Invalid platform app");
  if (!isRedirect(redirectUri))
    throw deadEnd("Invalid Request", "Request parameters are invalid: Invalid redirect_uri");
  if (query.get("response_type") !== "code")
    throw deadEnd("Invalid Request", "Request parameters are invalid: Invalid response_type");
  const permissions = (query.get("scope") ?? "").split(/[\s,]+/).filter((name) => name !== "");
  const unknown = permissions.filter((name) => !(name in PERMISSIONS));
  if (unknown.length > 0 || !permissions.includes(BASIC))
    throw deadEnd(
      "Invalid Request",
      `Request parameters are invalid: Invalid scope: ${JSON.stringify(unknown)}`,
    );
  return { appId, redirectUri, permissions };
}

/** Instagram puts `#_` behind everything that it sends back. */
function back(exchange: Exchange, redirectUri: string, parameters: Record<string, string>): Answer {
  return {
    status: 303,
    headers: { location: `${callbackUrl(exchange, redirectUri, parameters)}#_` },
  };
}

function question(shared: InstagramShared, exchange: Exchange): string {
  const { permissions } = readAsked(shared, exchange);
  const accounts = shared.state.accounts.map(({ userId, username, type }, index): Choice => {
    const hint = KINDS[type];
    const checked = index === 0;
    return { kind: "radio", name: "account", value: userId, label: `@${username}`, hint, checked };
  });
  return consentPage({
    network: "instagram",
    host: "www.instagram.com",
    title: "Allow access to your Instagram account?",
    groups: [
      { legend: "As", choices: accounts },
      { legend: "It may", choices: rights(permissions, PERMISSIONS) },
    ],
    action: `${exchange.path}?${exchange.query.toString()}`,
    buttons: [
      { value: "allow", label: "Allow" },
      { value: "deny", label: "Cancel" },
    ],
  });
}

function decide(shared: InstagramShared, exchange: Exchange): Answer {
  const { appId, redirectUri, permissions } = readAsked(shared, exchange);
  const form = new URLSearchParams(exchange.body.toString("utf8"));
  if (form.get("decision") !== "allow")
    return back(exchange, redirectUri, {
      error: "access_denied",
      error_reason: "user_denied",
      error_description: "The user denied your request.",
    });
  const account = findAccount(
    shared.state,
    form.get("account") ?? shared.state.accounts[0]?.userId ?? "",
  );
  if (account === undefined) throw deadEnd("Error", "There is no such account.");
  // A form without the page's marker is a bare decision: everything that was asked for is granted.
  const granted = permissions.filter(
    (name) => name === BASIC || form.get("asked") === null || form.has(`may_${name}`),
  );
  const code = `AQ${randomBytes(90).toString("base64url")}`;
  keep(shared.state.codes, code, {
    appId,
    userId: account.userId,
    redirectUri,
    permissions: granted,
    expiresAt: shared.now() + CODE_MS,
    used: false,
  });
  return back(exchange, redirectUri, { code });
}

function oauthRefusal(message: string): Refusal {
  return new Refusal(
    json(400, { error_type: "OAuthException", code: 400, error_message: message }),
  );
}

function usableCode(shared: InstagramShared, sent: string, appId: string): Code {
  const code = shared.state.codes.get(sent);
  if (code === undefined || code.appId !== appId) throw oauthRefusal("Invalid authorization code");
  if (code.used) throw oauthRefusal("This authorization code has been used");
  if (code.expiresAt <= shared.now()) throw oauthRefusal("This authorization code has expired");
  return code;
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

function exchangeCode(shared: InstagramShared, exchange: Exchange): Answer {
  const type = (exchange.headers["content-type"] ?? "").toLowerCase();
  if (!type.startsWith("application/x-www-form-urlencoded"))
    throw oauthRefusal("Missing required field client_id");
  const form = readParameters(exchange);
  const field = (name: string): string => {
    const value = textParameter(form, name);
    if (value === undefined) throw oauthRefusal(`Missing required field ${name}`);
    return value;
  };
  const appId = field("client_id");
  const secret = shared.state.apps.get(appId);
  if (secret === undefined) throw oauthRefusal("Invalid platform app");
  if (field("client_secret") !== secret) throw oauthRefusal("Error validating client secret.");
  if (field("grant_type") !== "authorization_code")
    throw oauthRefusal("Invalid grant_type: only authorization_code is supported");
  const code = usableCode(shared, field("code"), appId);
  if (field("redirect_uri") !== code.redirectUri)
    throw oauthRefusal(
      "Error validating verification code. Please make sure your redirect_uri is identical to the one you used in the OAuth dialog request",
    );
  code.used = true;
  const token = { access_token: issueToken(shared, code, SHORT_MS), user_id: code.userId };
  // Both shapes are seen: the documented one with a list, and a flat one.
  return shared.state.tokenShape === "data"
    ? json(200, { data: [{ ...token, permissions: code.permissions.join(",") }] })
    : json(200, { ...token, permissions: code.permissions });
}

/** The page on which a person lets an app in, and the exchange of its code. */
export function oauthRoutes(shared: InstagramShared): Route[] {
  const authorize = (method: "GET" | "POST", run: (exchange: Exchange) => Answer): Route => ({
    method,
    hosts: ["www.instagram.com"],
    path: "/oauth/authorize",
    name: "authorize",
    run,
  });
  return [
    authorize("GET", (exchange) => htmlPage(200, question(shared, exchange))),
    authorize("POST", (exchange) => decide(shared, exchange)),
    {
      method: "POST",
      hosts: ["api.instagram.com"],
      path: "/oauth/access_token",
      name: "accessToken",
      run: (exchange) => exchangeCode(shared, exchange),
    },
  ];
}
