import { json } from "../exchange.ts";
import type { Answer, Exchange } from "../exchange.ts";
import { UNKNOWN_TOKEN, badParameter, graphRefusal } from "../graph/errors.ts";
import { readParameters, sentToken, textParameter } from "../graph/parameters.ts";
import { keep } from "../kept-maps.ts";
import type { Route } from "../network.ts";
import type { CodeProblem, OAuthProvider } from "../oauth-provider.ts";
import { authorize, authorizeApp, tokenProblem } from "./access.ts";
import { findPage, grantOf, newTokenText } from "./state.ts";
import type { FacebookShared, Page, Token } from "./state.ts";
import { route } from "../network.ts";

const SHORT_MS = 2 * 3_600_000;
const LONG_MS = 60 * 24 * 3_600_000;
const DATA_ACCESS_MS = 90 * 24 * 3_600_000;
const ROUND = 1000;

function issueUserToken(
  shared: FacebookShared,
  { appId, userId }: { readonly appId: string; readonly userId: string },
  isLongLived: boolean,
): string {
  const issuedAt = shared.now();
  const text = newTokenText();
  keep(shared.state.tokens, text, {
    appId,
    userId,
    pageId: null,
    issuedAt,
    expiresAt: issuedAt + (isLongLived ? LONG_MS : SHORT_MS),
    isLongLived,
    endedBy: null,
  });
  return text;
}

/** The page's token for this user: the same one as long as it is good; without an end when the user's is long-lived. */
export function pageToken(shared: FacebookShared, user: Token, page: Page): string {
  const expiresAt = user.isLongLived ? null : user.expiresAt;
  for (const [text, token] of shared.state.tokens) {
    const isSame =
      token.appId === user.appId && token.userId === user.userId && token.pageId === page.id;
    if (isSame && token.expiresAt === expiresAt && token.endedBy === null) return text;
  }
  const text = newTokenText();
  const { appId, userId, isLongLived } = user;
  const issuedAt = shared.now();
  const token = { appId, userId, pageId: page.id, issuedAt, expiresAt, isLongLived, endedBy: null };
  keep(shared.state.tokens, text, token);
  return text;
}

function tokenAnswer(shared: FacebookShared, text: string): Answer {
  const token = shared.state.tokens.get(text);
  const left = Math.round(((token?.expiresAt ?? 0) - shared.now()) / ROUND);
  return json(200, { access_token: text, token_type: "bearer", expires_in: left });
}

const verification = (message: string, subcode?: number) =>
  graphRefusal({ message, code: 100, ...(subcode === undefined ? {} : { subcode }) });

const CODE_PROBLEMS: Readonly<Record<CodeProblem, readonly [string, number?]>> = {
  unknown: ["Invalid verification code format."],
  used: ["This authorization code has been used.", 36009],
  expired: ["This authorization code has expired.", 36007],
  redirect: [
    "Error validating verification code. Please make sure your redirect_uri is identical to the one you used in the OAuth dialog request",
    36008,
  ],
  verifier: ["Invalid verification code format."],
};

function exchangeCode(shared: FacebookShared, provider: OAuthProvider, exchange: Exchange): Answer {
  const appId = authorizeApp(shared, exchange);
  const parameters = readParameters(exchange);
  const code = textParameter(parameters, "code");
  if (code === undefined) throw verification("Missing authorization code");
  const redirectUri = textParameter(parameters, "redirect_uri") ?? "";
  const { accountId } = provider.redeem({ code, clientId: appId, redirectUri }, (problem) =>
    verification(...CODE_PROBLEMS[problem]),
  );
  return tokenAnswer(shared, issueUserToken(shared, { appId, userId: accountId }, false));
}

function exchangeToken(shared: FacebookShared, exchange: Exchange): Answer {
  const appId = authorizeApp(shared, exchange);
  const sent = textParameter(readParameters(exchange), "fb_exchange_token");
  if (sent === undefined) throw badParameter("Missing fb_exchange_token parameter.");
  const token = shared.state.tokens.get(sent);
  if (token === undefined || token.appId !== appId || token.pageId !== null)
    throw graphRefusal(UNKNOWN_TOKEN);
  const problem = tokenProblem(shared, token);
  return problem ?? tokenAnswer(shared, issueUserToken(shared, token, true));
}

function accessToken(shared: FacebookShared, provider: OAuthProvider, exchange: Exchange): Answer {
  const grant = textParameter(readParameters(exchange), "grant_type") ?? "authorization_code";
  switch (grant) {
    case "authorization_code":
      return exchangeCode(shared, provider, exchange);
    case "fb_exchange_token":
      return exchangeToken(shared, exchange);
    default:
      throw badParameter(`Unsupported grant_type: ${grant}`);
  }
}

/** The app itself by its `id|secret`, or one of its users. */
function inspectingApp(shared: FacebookShared, exchange: Exchange): string {
  const [appId = "", secret] = (sentToken(exchange) ?? "").split("|");
  if (secret === undefined) return authorize(shared, exchange).token.appId;
  if (shared.state.apps.get(appId) === secret) return appId;
  throw graphRefusal({ ...UNKNOWN_TOKEN, message: "Invalid OAuth access token signature." });
}

const seconds = (milliseconds: number) => Math.floor(milliseconds / ROUND);

function debugData(shared: FacebookShared, token: Token): Record<string, unknown> {
  const grant = grantOf(shared.state, token) ?? { granted: [], pageIds: [] };
  const page = token.pageId === null ? undefined : findPage(shared.state, token.pageId);
  const pageIds = page === undefined ? grant.pageIds : [page.id];
  return {
    app_id: token.appId,
    type: page === undefined ? "USER" : "PAGE",
    application: "Publishing relay",
    data_access_expires_at: seconds(token.issuedAt + DATA_ACCESS_MS),
    expires_at: token.expiresAt === null ? 0 : seconds(token.expiresAt),
    is_valid: tokenProblem(shared, token) === undefined,
    issued_at: seconds(token.issuedAt),
    ...(page === undefined ? {} : { profile_id: page.id }),
    scopes: grant.granted,
    granular_scopes: grant.granted.map((scope) =>
      scope.startsWith("pages_") ? { scope, target_ids: pageIds } : { scope },
    ),
    user_id: token.userId,
  };
}

function debugToken(shared: FacebookShared, exchange: Exchange): Answer {
  const appId = inspectingApp(shared, exchange);
  const input = textParameter(readParameters(exchange), "input_token");
  if (input === undefined) throw badParameter("The parameter input_token is required");
  const token = shared.state.tokens.get(input);
  if (token === undefined || token.appId !== appId)
    return json(200, {
      data: {
        error: { code: 190, message: "The access token could not be decrypted" },
        is_valid: false,
        scopes: [],
      },
    });
  return json(200, { data: debugData(shared, token) });
}

/** Codes and tokens. The addresses without a version are Meta's own habit here. */
export function tokenRoutes(
  shared: FacebookShared,
  provider: OAuthProvider,
): {
  readonly plain: Route[];
  readonly versioned: Route[];
} {
  const routes = (): Route[] => [
    ...(["GET", "POST"] as const).map((method): Route => ({
      method,
      path: "/oauth/access_token",
      name: "accessToken",
      run: (exchange) => accessToken(shared, provider, exchange),
    })),
    route("GET /debug_token", "debugToken", (exchange) => debugToken(shared, exchange)),
  ];
  return { plain: routes(), versioned: routes() };
}
