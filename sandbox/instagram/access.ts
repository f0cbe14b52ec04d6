import type { Answer, Exchange } from "../exchange.ts";
import { NO_TOKEN, UNKNOWN_TOKEN, graphRefusal, noSuchObject } from "../graph/errors.ts";
import type { GraphProblem } from "../graph/errors.ts";
import { sentToken } from "../graph/parameters.ts";
import { endOf } from "../graph/tokens.ts";
import { ACCOUNT_CALLS, INSTAGRAM_USE, countedCall } from "../graph/usage.ts";
import { findAccount } from "./state.ts";
import type { Account, InstagramShared, Token } from "./state.ts";

export const BASIC = "instagram_business_basic";
export const PUBLISH = "instagram_business_content_publish";

export interface Speaker {
  readonly token: Token;
  readonly account: Account;
}

/** The token that the request carries, good or not. */
export function findToken(shared: InstagramShared, exchange: Exchange): Token | undefined {
  return shared.state.tokens.get(sentToken(exchange) ?? "");
}

/** Only businesses and creators have anything here; a personal account's token says so at the first call. */
export const NOT_PROFESSIONAL: GraphProblem = {
  message: "(#10) The user is not an Instagram Business",
  code: 10,
  status: 403,
};

/** Who speaks, when the token is good and the account is a professional one. */
export function authorize(
  shared: InstagramShared,
  exchange: Exchange,
  permission: string = BASIC,
): Speaker {
  if (sentToken(exchange) === undefined) throw graphRefusal(NO_TOKEN);
  const token = findToken(shared, exchange);
  const account = findAccount(shared.state, token?.userId ?? "");
  if (token === undefined || account === undefined) throw graphRefusal(UNKNOWN_TOKEN);
  const problem = endOf(token, shared.now());
  if (problem !== undefined) throw graphRefusal(problem);
  if (account.type === "PERSONAL") throw graphRefusal(NOT_PROFESSIONAL);
  if (!token.permissions.includes(permission))
    throw graphRefusal({
      message: "(#10) Application does not have permission for this action",
      code: 10,
      status: 403,
    });
  return { token, account };
}

/** The speaker of a path under the account's id: `user_id` or `me`, never the id that belongs to the app. */
export function authorizePath(
  shared: InstagramShared,
  exchange: Exchange,
  permission: string = BASIC,
): Speaker {
  const speaker = authorize(shared, exchange, permission);
  const id = exchange.params["id"] ?? "";
  if (id !== "me" && id !== speaker.account.userId)
    throw noSuchObject(id, exchange.method.toLowerCase());
  if (permission === PUBLISH && speaker.account.restricted) throw graphRefusal(RESTRICTED);
  return speaker;
}

export const RESTRICTED: GraphProblem = {
  message: "The Instagram account is restricted",
  code: 25,
  subcode: 2207050,
  status: 403,
  userTitle: "Restricted Instagram account",
  userMessage: "The Instagram professional account is inactive, checkpointed, or restricted.",
};

/** Counts a call of an account. */
export async function counted(
  shared: InstagramShared,
  exchange: Exchange,
  run: () => Answer | Promise<Answer>,
): Promise<Answer> {
  const id = findToken(shared, exchange)?.userId;
  if (id === undefined) return run();
  const window = `instagram ${id}`;
  return countedCall(shared, { window, id, calls: ACCOUNT_CALLS, business: INSTAGRAM_USE }, run);
}
