import { HttpFailure, type HttpResponse } from "../../runtime/http-call.ts";
import { RedirectCookies } from "./redirect-cookies.ts";

/** RFC 9110, 15.4, mentions that clients once followed five. */
export const REDIRECTS_MAX = 5;

/** A 300 names the choice that the server prefers, or none (RFC 9110, 15.4.1). */
const REDIRECTS: readonly number[] = [300, 301, 302, 303, 307, 308];

/** Why a chain of redirects leads to no answer. */
export type RedirectProblem = "too_many_redirects" | "redirected_nowhere";

interface AnswerHead extends Pick<HttpResponse, "status" | "headers"> {}

export interface Arrival<Answer> {
  readonly url: string;
  readonly answer: Answer;
}

/**
 * Returns the address that an answer redirects to, or undefined when it is no redirect. Headers come as Latin-1. As
 * browsers do, each byte beyond ASCII is escaped, so that a path in UTF-8 is requested as it was sent.
 */
function redirectTarget({ status, headers }: AnswerHead, url: string): string | null | undefined {
  if (!REDIRECTS.includes(status)) return undefined;
  const location = headers["location"]?.replace(
    /[\u0080-\u00ff]/g,
    (byte) => `%${byte.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  return location !== undefined && URL.canParse(location, url) ? new URL(location, url).href : null;
}

export interface FollowOptions<Answer> {
  /** Ends an answer that is left for another address. */
  readonly leave?: (answer: Answer) => void;
  /** The cookies that were set before. They gain those that are set on the way. */
  readonly cookies?: RedirectCookies;
}

/**
 * Makes a call and follows its redirects. `ask` checks each address that it gets, and sends the cookies with it. Returns
 * the first answer that is no redirect, with any status.
 */
export async function followRedirects<Answer extends AnswerHead | HttpFailure>(
  url: string,
  ask: (url: string, cookies: { readonly cookie?: string }) => Promise<Answer>,
  { leave = () => undefined, cookies = new RedirectCookies() }: FollowOptions<Answer> = {},
): Promise<Arrival<Answer> | RedirectProblem> {
  let address = url;
  for (let hop = 0; hop <= REDIRECTS_MAX; hop += 1) {
    const answer = await ask(address, cookies.headersFor(address));
    if (answer instanceof HttpFailure) return { url: address, answer };
    cookies.take(address, answer.headers);
    const target = redirectTarget(answer, address);
    if (target === undefined) return { url: address, answer };
    leave(answer);
    if (target === null) return "redirected_nowhere";
    address = target;
  }
  return "too_many_redirects";
}
