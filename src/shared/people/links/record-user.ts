import type { RequestScope } from "../../callers/scope.ts";
import type { PeopleDeps } from "../deps.ts";
import type { StoredUser } from "./links.ts";

/** Records what a user did with a link, without a session. */
export function recordUser(
  deps: Pick<PeopleDeps, "clock" | "audit">,
  scope: RequestScope,
  { id: userId, platformId, sessionVersion, role }: StoredUser,
  action: string,
): void {
  const expiresAt = deps.clock.now().toISOString();
  const session = { sessionId: null, sessionVersion, expiresAt, confirmedUntil: null };
  const caller = { kind: "session", userId, platformId, role, ...session } as const;
  const target = { type: "user", id: userId };
  deps.audit.record({ ...scope, caller, platformId }, { action, target });
}
