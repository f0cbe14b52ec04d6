import type { Answer } from "../exchange.ts";
import { endedToken, expiredToken, graphError } from "./errors.ts";
import type { GraphProblem } from "./errors.ts";

export type Refusals = Readonly<Record<string, GraphProblem>>;

/** What both networks say alike. */
const SHARED: Refusals = {
  network_unavailable: {
    message: "An unexpected error has occurred. Please retry your request later.",
    code: 2,
    isTransient: true,
    status: 500,
  },
  connection_needs_reauth: endedToken(460),
};

/** The failure in Graph's words: those of the call, else of the network, else of both. */
export function refusalAnswer(code: string, now: number, ...own: readonly Refusals[]): Answer {
  if (code === "token_expired") return graphError(expiredToken(now, now));
  const refusal = [...own, SHARED].map((refusals) => refusals[code]).find(Boolean);
  return graphError(
    refusal ?? { message: `(#100) A parameter must be another (${code})`, code: 100 },
  );
}
