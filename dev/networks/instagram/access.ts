import type { Answer, Exchange } from "../exchange.ts";
import {
  NO_TOKEN,
  UNKNOWN_TOKEN,
  endedToken,
  expiredToken,
  graphError,
  graphRefusal,
  noSuchObject,
} from "../graph/errors.ts";
import type { GraphProblem } from "../graph/errors.ts";
import { sentToken } from "../graph/parameters.ts";
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

export function tokenProblem(shared: InstagramShared, token: Token): GraphProblem | undefined {
  if (token.endedBy !== null) return endedToken(token.endedBy);
  const now = shared.now();
  return token.expiresAt <= now ? expiredToken(token.expiresAt, now) : undefined;
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
  const problem = tokenProblem(shared, token);
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

const CALLS = { limit: 4800, windowMs: 24 * 3_600_000 };

/** Counts a call and adds Meta's header of use; refuses beyond the limit when the sandbox enforces them. */
export async function counted(
  shared: InstagramShared,
  exchange: Exchange,
  run: () => Answer | Promise<Answer>,
): Promise<Answer> {
  const subject = findToken(shared, exchange)?.userId;
  if (subject === undefined) return run();
  const use = shared.windows.take(`instagram ${subject}`, CALLS.limit, CALLS.windowMs);
  const waitMinutes = Math.ceil((use.resetAt - shared.now()) / 60_000);
  if (!use.allowed) return tooManyCalls(subject, waitMinutes);
  const percent = Math.round(((use.limit - use.remaining) / use.limit) * 100);
  const answer = await run();
  return { ...answer, headers: { ...businessUse(subject, percent, 0), ...answer.headers } };
}

function businessUse(id: string, percent: number, waitMinutes: number): Record<string, string> {
  const use = {
    type: "instagram",
    call_count: percent,
    total_cputime: 1,
    total_time: 1,
    estimated_time_to_regain_access: waitMinutes,
  };
  return { "x-business-use-case-usage": JSON.stringify({ [id]: [use] }) };
}

export function tooManyCalls(id: string, waitMinutes: number): Answer {
  return graphError(
    {
      message:
        "(#80002) There have been too many calls to this Instagram account. Wait a bit and try again.",
      code: 80002,
    },
    businessUse(id, 100, waitMinutes),
  );
}
