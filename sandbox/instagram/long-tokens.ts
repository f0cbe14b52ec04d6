import { json } from "../exchange.ts";
import type { Answer, Exchange } from "../exchange.ts";
import { NO_TOKEN, UNKNOWN_TOKEN, badParameter, graphRefusal } from "../graph/errors.ts";
import { readParameters, sentToken, textParameter } from "../graph/parameters.ts";
import { endOf } from "../graph/tokens.ts";
import type { Route } from "../network.ts";
import { findToken } from "./access.ts";
import { issueToken } from "./oauth.ts";
import type { InstagramShared, Token } from "./state.ts";
import { route } from "../network.ts";

const LONG_MS = 60 * 24 * 3_600_000;
const REFRESH_AFTER_MS = 24 * 3_600_000;

function goodToken(shared: InstagramShared, exchange: Exchange): Token {
  if (sentToken(exchange) === undefined) throw graphRefusal(NO_TOKEN);
  const token = findToken(shared, exchange);
  if (token === undefined) throw graphRefusal(UNKNOWN_TOKEN);
  const problem = endOf(token, shared.now());
  if (problem !== undefined) throw graphRefusal(problem);
  return token;
}

function longToken(shared: InstagramShared, token: Token): Answer {
  return json(200, {
    access_token: issueToken(shared, token, LONG_MS),
    token_type: "bearer",
    expires_in: LONG_MS / 1000,
    permissions: token.permissions.join(","),
  });
}

function checkGrant(exchange: Exchange, wanted: string): void {
  if (textParameter(readParameters(exchange), "grant_type") !== wanted)
    throw badParameter(`grant_type must be ${wanted}`);
}

function exchangeToken(shared: InstagramShared, exchange: Exchange): Answer {
  checkGrant(exchange, "ig_exchange_token");
  const token = goodToken(shared, exchange);
  const secret = textParameter(readParameters(exchange), "client_secret");
  if (secret === undefined || secret !== shared.state.apps.get(token.appId))
    throw graphRefusal({ message: "Error validating client secret.", code: 1 });
  if (token.isLongLived)
    throw graphRefusal({ message: "Session key invalid", code: 452, status: 400 });
  return longToken(shared, token);
}

function refresh(shared: InstagramShared, exchange: Exchange): Answer {
  checkGrant(exchange, "ig_refresh_token");
  const token = goodToken(shared, exchange);
  if (!token.isLongLived)
    throw graphRefusal({ message: "Only long-lived tokens can be refreshed", code: 100 });
  if (shared.now() - token.issuedAt < REFRESH_AFTER_MS)
    throw graphRefusal({
      message: "The access token must be at least 24 hours old to be refreshed",
      code: 100,
    });
  return longToken(shared, token);
}

/** Tokens of sixty days. These two addresses are documented without a version. */
export function longTokenRoutes(shared: InstagramShared): Route[] {
  return [
    route("GET /access_token", "exchangeToken", (exchange) => exchangeToken(shared, exchange)),
    route("GET /refresh_access_token", "refreshToken", (exchange) => refresh(shared, exchange)),
  ];
}
