import type { GraphProblem } from "./errors.ts";
import { endedToken, expiredToken } from "./errors.ts";

/** What ends a token, in a row of either network. */
interface Ending {
  expiresAt: number | null;
  /** Subcode that says why, when it was ended before its time. */
  endedBy: number | null;
}

export const PASSWORD_CHANGED = 460;

/** Why the token is of no use any more; undefined when it is good. */
export function endOf(
  { endedBy, expiresAt }: Readonly<Ending>,
  now: number,
): GraphProblem | undefined {
  if (endedBy !== null) return endedToken(endedBy);
  return expiresAt !== null && expiresAt <= now ? expiredToken(expiresAt, now) : undefined;
}

/** What a played failure does to the token that the call came with. */
export function sufferFailure(code: string, token: Ending | undefined, now: number): void {
  if (token === undefined) return;
  if (code === "connection_needs_reauth") token.endedBy ??= PASSWORD_CHANGED;
  if (code === "token_expired") token.expiresAt = now;
}
