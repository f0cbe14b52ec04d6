import { bearerToken } from "../exchange.ts";
import type { Answer, Exchange } from "../exchange.ts";
import type { RateUse, RateWindows } from "../rate-windows.ts";
import { errorAnswer, personalityOf, refusal } from "./personality.ts";
import { findAccount } from "./state.ts";
import type { Account, MastodonShared, Token } from "./state.ts";

export const SCOPE_WORDS: Readonly<Record<string, string>> = {
  read: "Read all your account's data",
  "read:accounts": "See account information",
  "read:search": "Search on your behalf",
  "read:statuses": "See all posts",
  write: "Modify all your account's data",
  "write:media": "Upload media files",
  "write:statuses": "Publish posts",
  profile: "Read only your account's profile information",
};

const CALLS_PER_FIVE_MINUTES = 300;

export interface Speaker {
  readonly account: Account;
  readonly token: Token;
}

/** The token that the request carries, if this instance knows it. */
export function findToken(shared: MastodonShared, exchange: Exchange): Token | undefined {
  const token = shared.state.tokens.get(bearerToken(exchange) ?? "");
  return token?.host === exchange.host ? token : undefined;
}

/** Who speaks, when the token is good for one of the scopes; refuses in the instance's own words. */
export function authorize(
  shared: MastodonShared,
  exchange: Exchange,
  scopes: readonly string[],
): Speaker {
  const { host } = exchange;
  const token = findToken(shared, exchange);
  if (token === undefined) throw refusal(host, 401, "The access token is invalid");
  if (token.revoked) throw refusal(host, 401, "The access token was revoked");
  const endsAt = token.createdAt + (personalityOf(host).tokenSeconds ?? Infinity) * 1000;
  if (shared.now() >= endsAt) throw refusal(host, 401, "The access token expired");
  const granted = scopes.some((scope) => token.scopes.includes(scope));
  if (personalityOf(host).strict && !granted)
    throw refusal(host, 403, "This action is outside the authorized scopes");
  const account = findAccount(shared.state, host, token.accountId);
  if (account === undefined) throw refusal(host, 401, "The access token is invalid");
  return { account, token };
}

/** Pleroma says nothing of what is left. */
function rateHeaders(host: string, use: RateUse): Record<string, string> {
  if (personalityOf(host).errors === "pleroma") return {};
  return {
    "x-ratelimit-limit": String(use.limit),
    "x-ratelimit-remaining": String(use.remaining),
    "x-ratelimit-reset": new Date(use.resetAt).toISOString(),
  };
}

export function tooManyRequests(host: string, use: RateUse): Answer {
  const answer = errorAnswer(host, 429, "Too many requests");
  return { ...answer, headers: { ...answer.headers, ...rateHeaders(host, use) } };
}

/** Counts the call against its own limit, if it has one, else against the limit of all calls. */
export async function limited(
  windows: RateWindows,
  exchange: Exchange,
  own: { readonly name: string; readonly limit: number; readonly windowMs: number } | undefined,
  run: () => Answer | Promise<Answer>,
): Promise<Answer> {
  const who = `mastodon ${exchange.host} ${bearerToken(exchange) ?? "anonymous"}`;
  const all = windows.take(`${who} calls`, CALLS_PER_FIVE_MINUTES, 300_000);
  const use = own === undefined ? all : windows.take(`${who} ${own.name}`, own.limit, own.windowMs);
  const answer = await run();
  return { ...answer, headers: { ...answer.headers, ...rateHeaders(exchange.host, use) } };
}
