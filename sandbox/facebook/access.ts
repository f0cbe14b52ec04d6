import { createHmac } from "node:crypto";
import { Refusal, json } from "../exchange.ts";
import type { Answer, Exchange } from "../exchange.ts";
import {
  NO_TOKEN,
  UNKNOWN_TOKEN,
  badParameter,
  endedToken,
  graphError,
  graphRefusal,
  noSuchObject,
} from "../graph/errors.ts";
import { endOf } from "../graph/tokens.ts";
import { ACCOUNT_CALLS, PAGE_USE, countedCall } from "../graph/usage.ts";
import { readParameters, sentToken, textParameter } from "../graph/parameters.ts";
import { findPage, grantOf } from "./state.ts";
import type { FacebookShared, Page, Token } from "./state.ts";

export interface Speaker {
  readonly text: string;
  readonly token: Token;
}

/** The token that the request carries, good or not. */
export function findToken(shared: FacebookShared, exchange: Exchange): Token | undefined {
  return shared.state.tokens.get(sentToken(exchange) ?? "");
}

/** Why the token is of no use any more; undefined when it is good. */
export function tokenProblem(shared: FacebookShared, token: Token): Answer | undefined {
  const end = endOf(token, shared.now());
  if (end !== undefined) return graphError(end);
  if (grantOf(shared.state, token) === undefined) return graphError(endedToken(458));
  if (token.pageId === null) return undefined;
  const page = findPage(shared.state, token.pageId);
  return page?.tasks[token.userId] === undefined ? graphError(endedToken(492)) : undefined;
}

function checkProof(shared: FacebookShared, exchange: Exchange, speaker: Speaker): void {
  const proof = textParameter(readParameters(exchange), "appsecret_proof");
  if (proof === undefined && !shared.state.requireProof) return;
  const message =
    proof === undefined
      ? "API calls from the server require an appsecret_proof argument"
      : "Invalid appsecret_proof provided in the API argument";
  const secret = shared.state.apps.get(speaker.token.appId) ?? "";
  const wanted = createHmac("sha256", secret).update(speaker.text).digest("hex");
  if (proof?.toLowerCase() !== wanted)
    throw graphRefusal({ message, type: "GraphMethodException", code: 100 });
}

/** Who speaks, when the token is good. */
export function authorize(shared: FacebookShared, exchange: Exchange): Speaker {
  const text = sentToken(exchange);
  if (text === undefined) throw graphRefusal(NO_TOKEN);
  const token = shared.state.tokens.get(text);
  if (token === undefined) throw graphRefusal(UNKNOWN_TOKEN);
  const problem = tokenProblem(shared, token);
  if (problem !== undefined) throw new Refusal(problem);
  const speaker = { text, token };
  checkProof(shared, exchange, speaker);
  return speaker;
}

export function mayUse(shared: FacebookShared, token: Token, permission: string): boolean {
  return grantOf(shared.state, token)?.granted.includes(permission) === true;
}

/** The id that the path names; `me` is whose token it is. */
export function namedId(exchange: Exchange, { token }: Speaker, name = "id"): string {
  const id = exchange.params[name] ?? "";
  return id === "me" ? (token.pageId ?? token.userId) : id;
}

/** The user behind a user token, for paths under `/me` or the user's own id. */
export function authorizeUser(shared: FacebookShared, exchange: Exchange): Speaker {
  const speaker = authorize(shared, exchange);
  if (speaker.token.pageId !== null || namedId(exchange, speaker) !== speaker.token.userId)
    throw noSuchObject(exchange.params["id"] ?? "", exchange.method.toLowerCase());
  return speaker;
}

/** The page of the path, when the token is that page's own and has the permission. */
export function authorizePage(
  shared: FacebookShared,
  exchange: Exchange,
  permission: "pages_manage_posts" | "pages_read_engagement",
): Page {
  const speaker = authorize(shared, exchange);
  const id = namedId(exchange, speaker);
  const page = findPage(shared.state, id);
  if (page === undefined) throw noSuchObject(id, exchange.method.toLowerCase());
  const { token } = speaker;
  if (token.pageId === null)
    throw graphRefusal({
      message: "(#210) A page access token is required to request this resource.",
      code: 210,
      status: 403,
    });
  if (token.pageId !== page.id) throw noSuchObject(id, exchange.method.toLowerCase());
  if (!mayUse(shared, token, permission)) throw missingPermission(permission);
  if (permission === "pages_manage_posts") checkPublisher(page, token);
  return page;
}

/** The page that a token belongs to, when it has the permission and its person the task. */
export function authorizeOwn(
  shared: FacebookShared,
  exchange: Exchange,
  { permission, task }: { readonly permission: string; readonly task: RegExp },
): Page {
  const { token } = authorize(shared, exchange);
  const page = findPage(shared.state, token.pageId ?? "");
  if (page === undefined)
    throw noSuchObject(exchange.params["id"] ?? "", exchange.method.toLowerCase());
  if (!mayUse(shared, token, permission)) throw missingPermission(permission);
  const may = page.tasks[token.userId]?.some((held) => task.test(held));
  if (may !== true) throw missingPermission(permission);
  return page;
}

export function missingPermission(permission: string): Refusal {
  if (permission === "pages_read_engagement")
    return graphRefusal({
      message:
        "(#10) This endpoint requires the 'pages_read_engagement' permission or the 'Page Public Content Access' feature.",
      code: 10,
      status: 403,
    });
  return graphRefusal({
    message: `(#200) Requires ${permission} permission to manage the object`,
    code: 200,
    status: 403,
  });
}

function checkPublisher(page: Page, token: Token): void {
  const mayPublish = page.tasks[token.userId]?.some((task) =>
    /CREATE_CONTENT$|FULL_CONTROL$/.test(task),
  );
  if (mayPublish !== true)
    throw graphRefusal({
      message: "(#200) The user does not have the CREATE_CONTENT task on the Page",
      code: 200,
      status: 403,
    });
  if (page.restricted)
    throw graphRefusal({
      message: "The action attempted has been deemed abusive or is otherwise disallowed",
      code: 368,
      subcode: 4854002,
      status: 403,
      userTitle: "Confirm your identity",
      userMessage: "To keep posting, confirm your identity.",
    });
}

/** The app that a request proves to be, by id and secret. */
export function authorizeApp(shared: FacebookShared, exchange: Exchange): string {
  const parameters = readParameters(exchange);
  const appId = textParameter(parameters, "client_id");
  if (appId === undefined)
    throw graphRefusal({ message: "Missing client_id parameter.", code: 101 });
  const secret = shared.state.apps.get(appId);
  if (secret === undefined)
    throw graphRefusal({
      message: "Error validating application. Cannot get application info due to a system error.",
      code: 101,
    });
  const sent = textParameter(parameters, "client_secret");
  if (sent === undefined) throw badParameter("Missing client_secret parameter.");
  if (sent !== secret) throw graphRefusal({ message: "Error validating client secret.", code: 1 });
  return appId;
}

const USER_CALLS = { limit: 200, windowMs: 3_600_000 };

/** Counts a call, of a page apart from those of the people behind it. */
export function counted(
  shared: FacebookShared,
  exchange: Exchange,
  run: () => Answer | Promise<Answer>,
): Promise<Answer> {
  const token = findToken(shared, exchange);
  const id = token?.pageId ?? token?.userId ?? "anonymous";
  const isPage = token !== undefined && token.pageId !== null;
  const [calls, business] = isPage ? [ACCOUNT_CALLS, PAGE_USE] : [USER_CALLS, undefined];
  return countedCall(shared, { window: `facebook ${id}`, id, calls, business }, run);
}

export function success(fields: Readonly<Record<string, unknown>> = {}): Answer {
  return json(200, { success: true, ...fields });
}
