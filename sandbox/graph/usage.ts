import type { Answer } from "../exchange.ts";
import type { RateWindows } from "../rate-windows.ts";
import { graphError } from "./errors.ts";

/** Whose calls are counted together, and how Meta names that. */
export interface Counted {
  /** The subject of the window: `facebook 123`. */
  readonly window: string;
  /** The id that the header names. */
  readonly id: string;
  readonly calls: { readonly limit: number; readonly windowMs: number };
  readonly business: BusinessUse | undefined;
}

/** A kind of limit that Meta calls a business use case. */
export interface BusinessUse {
  readonly type: string;
  readonly code: number;
  /** As the refusal calls it. */
  readonly account: string;
}

export const PAGE_USE: BusinessUse = { type: "pages", code: 80001, account: "Page" };
export const INSTAGRAM_USE: BusinessUse = { type: "instagram", code: 80002, account: "Instagram" };

/** For an account with one engaged user. */
export const ACCOUNT_CALLS = { limit: 4800, windowMs: 24 * 3_600_000 };

function header(business: BusinessUse, id: string, percent: number, waitMinutes: number) {
  const use = {
    type: business.type,
    call_count: percent,
    total_cputime: 1,
    total_time: 1,
    estimated_time_to_regain_access: waitMinutes,
  };
  return { "x-business-use-case-usage": JSON.stringify({ [id]: [use] }) };
}

/** The refusal of a call beyond the limit, with the minutes until calls are accepted again. */
export function tooManyCalls(business: BusinessUse, id: string, waitMinutes: number): Answer {
  const { code, account } = business;
  const message = `(#${code}) There have been too many calls to this ${account} account. Wait a bit and try again.`;
  return graphError({ message, code }, header(business, id, 100, waitMinutes));
}

/** Counts a call and adds Meta's headers of use. */
export async function countedCall(
  { windows }: { readonly windows: RateWindows },
  { window, id, calls, business }: Counted,
  run: () => Answer | Promise<Answer>,
): Promise<Answer> {
  const use = windows.take(window, calls.limit, calls.windowMs);
  const percent = Math.round(((use.limit - use.remaining) / use.limit) * 100);
  const answer = await run();
  const ofApp = { call_count: percent, total_cputime: 1, total_time: 1 };
  return {
    ...answer,
    headers: {
      ...(business === undefined ? {} : header(business, id, percent, 0)),
      ...answer.headers,
      "x-app-usage": JSON.stringify(ofApp),
    },
  };
}
