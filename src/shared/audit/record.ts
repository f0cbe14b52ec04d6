import { onceAllowed } from "../callers/access-check.ts";
import { actorOf, type Caller } from "../callers/caller.ts";
import type { OperatorScope, RequestScope } from "../callers/scope.ts";
import { isId, newId } from "../runtime/ids.ts";
import type { AuditDeps } from "./deps.ts";
import type { AuditEvent, AuditTarget } from "./ring.ts";
import { AppError } from "../runtime/errors.ts";

/** Who did it, and from where. Every scope of a request is one. */
export interface AuditedScope extends RequestScope {
  readonly caller: Caller;
  readonly platformId?: string;
  readonly applicationId?: string | null;
  readonly profileId?: string;
}

export interface Audited {
  readonly action: string;
  readonly target?: AuditTarget;
  readonly outcome?: AuditEvent["outcome"];
  /** Set where the scope has none: an operator's target, a new application. */
  readonly platformId?: string;
  readonly applicationId?: string;
  /** A read, which changed nothing. Repeats within a minute are only logged. */
  readonly isRead?: true;
}

const REPEATS_MS = 60_000;

/**
 * Records what was done or refused: as a log line, which is kept, and in the process's ring, which can be listed. What a
 * request did is recorded once it is certain that it stays.
 */
export function recordAudit(services: AuditDeps, scope: AuditedScope, audited: Audited): void {
  const record = () => addToAudit(services, scope, audited);
  if (audited.outcome === "denied") record();
  else onceAllowed(record);
}

function addToAudit(services: AuditDeps, scope: AuditedScope, audited: Audited): void {
  const now = services.clock.now();
  const event: AuditEvent = {
    id: newId("auditEvent", now),
    at: now.toISOString(),
    actor: actorOf(scope.caller),
    action: audited.action,
    target: audited.target ?? null,
    platformId: audited.platformId ?? scope.platformId ?? null,
    applicationId: audited.applicationId ?? scope.applicationId ?? null,
    outcome: audited.outcome ?? "ok",
    ip: scope.ip,
    requestId: scope.requestId,
  };
  const since = new Date(now.getTime() - REPEATS_MS).toISOString();
  const isRepeated = audited.isRead === true && services.audit.hasLike(event, since);
  const { target } = event;
  const ofProfile = target?.type === "profile" ? target.id : null;
  if (!isRepeated) services.audit.add(event, scope.profileId ?? ofProfile);
  services.log.info("audit", { audit: event });
}

interface Looked {
  readonly action: string;
  /** Of one platform. */
  readonly platformId?: string;
}

/** Reads for an operator, and records what was read: `denied` where there was nothing to see. */
export async function operatorRead<T>(
  services: AuditDeps,
  scope: OperatorScope,
  { action, platformId = "" }: Looked,
  read: () => T | Promise<T>,
): Promise<T> {
  // Text that is not an id may be anything, of any length.
  const isNamed = isId("platform", platformId);
  const of = isNamed ? { platformId, target: { type: "platform", id: platformId } } : {};
  const looked = { action, ...of, isRead: true } as const;
  try {
    const answer = await read();
    recordAudit(services, scope, looked);
    return answer;
  } catch (error) {
    if (error instanceof AppError) recordAudit(services, scope, { ...looked, outcome: "denied" });
    throw error;
  }
}
