import { onceAllowed } from "../callers/access-check.ts";
import { actorOf, boundToView, listViewOf, type Caller } from "../callers/caller.ts";
import type { OperatorScope, PlatformScope, RequestScope } from "../callers/scope.ts";
import { AppError } from "../runtime/errors.ts";
import { isId, newId } from "../runtime/ids.ts";
import type { Log } from "../runtime/log.ts";
import { toPage, type Cursors, type Page } from "../runtime/page.ts";
import type { Clock } from "../runtime/process.ts";
import { AuditRing, type RingEntry } from "./ring.ts";
import type { AuditEvent, ListAudit } from "./schema.ts";

interface AuditDeps {
  readonly clock: Clock;
  readonly log: Pick<Log, "info">;
  readonly cursors: Cursors;
}

/** The caller and its origin. Every scope of a request fits. */
interface AuditedScope extends RequestScope {
  readonly caller: Caller;
  readonly platformId?: string;
  readonly applicationId?: string | null;
  readonly profileId?: string;
}

interface AuditedAct {
  readonly action: string;
  readonly target?: NonNullable<AuditEvent["target"]>;
  readonly outcome?: AuditEvent["outcome"];
  /** Set when the scope has no platform: for an operator's target, or a new application. */
  readonly platformId?: string;
  readonly applicationId?: string;
  /** A read, which changed nothing. Repeats within a minute are only logged. */
  readonly isRead?: true;
}

interface AuditedRead {
  readonly action: string;
  /** Set when only one platform was read. */
  readonly platformId?: string;
}

/** Records which actions were done and which were refused. */
export interface Audit {
  /**
   * Records an action as a log line, which is permanent, and in the process's ring, which can be listed. An action of a
   * request is recorded once it is certain that it stays.
   */
  record(scope: AuditedScope, audited: AuditedAct): void;
  /** Reads for an operator and records what was read, or `denied` when there was nothing to see. */
  readBy<T>(scope: OperatorScope, looked: AuditedRead, read: () => T | Promise<T>): Promise<T>;
  /** Lists this process's latest events of the caller's platform, newest first. @throws AppError `invalid_cursor` */
  list(scope: PlatformScope, query: ListAudit): Page<AuditEvent>;
  /** Lists this process's latest events of all platforms, newest first. @throws AppError `invalid_cursor` */
  listAll(scope: OperatorScope, query: ListAudit): Page<AuditEvent>;
}

const REPEATS_MS = 60_000;

/**
 * Reports whether the caller may see the event. A session sees its platform's events, a key its application's. A
 * restricted key sees its own actions and the events of its profiles.
 */
function isVisible(
  { caller, platformId, applicationId }: PlatformScope,
  { event, profileId }: RingEntry,
): boolean {
  if (event.platformId !== platformId) return false;
  if (applicationId !== null && event.applicationId !== applicationId) return false;
  const view = listViewOf(caller);
  if (view === undefined || event.actor.id === view.keyId) return true;
  return profileId !== null && view.profileIds.has(profileId);
}

export function createAudit({ clock, log, cursors }: AuditDeps): Audit {
  const ring = new AuditRing();

  function add(scope: AuditedScope, audited: AuditedAct): void {
    const now = clock.now();
    const event = {
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
    const isRepeated = audited.isRead === true && ring.hasLike(event, since);
    const { target } = event;
    const ofProfile = target?.type === "profile" ? target.id : null;
    if (!isRepeated) ring.add(event, scope.profileId ?? ofProfile);
    log.info("audit", { audit: event });
  }

  function record(scope: AuditedScope, audited: AuditedAct): void {
    if (audited.outcome === "denied") add(scope, audited);
    else onceAllowed(() => add(scope, audited));
  }

  function listed(
    { limit, cursor }: ListAudit,
    bound: object,
    fits: (entry: RingEntry) => boolean,
  ): Page<AuditEvent> {
    const found = ring.list(fits, cursors.read(cursor, bound), limit);
    const makeCursor = (next: string) => cursors.make(next, bound);
    return toPage(found, limit, makeCursor, (event) => event);
  }

  return {
    record,
    async readBy(scope, { action, platformId = "" }, read) {
      // Text that isn't an id may be anything, of any length.
      const isNamed = isId("platform", platformId);
      const of = isNamed ? { platformId, target: { type: "platform", id: platformId } } : {};
      const looked = { action, ...of, isRead: true } as const;
      try {
        const answer = await read();
        record(scope, looked);
        return answer;
      } catch (error) {
        if (error instanceof AppError) record(scope, { ...looked, outcome: "denied" });
        throw error;
      }
    },
    list(scope, query) {
      const { caller, platformId, applicationId } = scope;
      const view = boundToView(listViewOf(caller));
      const bound = { list: "audit", platformId, applicationId, ...view };
      return listed(query, bound, (entry) => isVisible(scope, entry));
    },
    listAll: (_scope, query) => listed(query, { list: "audit of all" }, () => true),
  };
}
