import * as z from "zod";
import { actor, boundToView, listViewOf } from "../callers/caller.ts";
import type { OperatorScope, PlatformScope } from "../callers/scope.ts";
import { pageQuery, toPage, type Page } from "../runtime/page.ts";
import type { AuditDeps } from "./deps.ts";
import { shape, type ShapeOf } from "../runtime/shape.ts";
import type { AuditEvent, RingEntry } from "./ring.ts";
import { idOf, time } from "../runtime/fields.ts";
import { exampleId } from "../runtime/ids.ts";

export const ListAuditQuery = shape(() => z.strictObject(pageQuery()));
type ListAudit = ShapeOf<typeof ListAuditQuery>;

function listRing(
  services: AuditDeps,
  { limit, cursor }: ListAudit,
  bound: object,
  fits: (entry: RingEntry) => boolean,
): Page<AuditEvent> {
  const after = services.cursors.read(cursor, bound);
  const listed = services.audit.list(fits, after, limit);
  const makeCursor = (next: string) => services.cursors.make(next, bound);
  return toPage(listed, limit, makeCursor, (event) => event);
}

/**
 * Returns whether the caller may see the event. A session sees its platform's, a key its application's; a restricted
 * key sees what it did itself, and events about its profiles.
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

/** Lists this process's latest events of the caller's platform, newest first. @throws AppError `invalid_cursor` */
export function listAudit(
  services: AuditDeps,
  scope: PlatformScope,
  query: ListAudit,
): Page<AuditEvent> {
  const { caller, platformId, applicationId } = scope;
  const bound = { list: "audit", platformId, applicationId, ...boundToView(listViewOf(caller)) };
  return listRing(services, query, bound, (entry) => isVisible(scope, entry));
}

/** Lists this process's latest events of all platforms, newest first. @throws AppError `invalid_cursor` */
export function listAllAudit(
  services: AuditDeps,
  _scope: OperatorScope,
  query: ListAudit,
): Page<AuditEvent> {
  return listRing(services, query, { list: "audit of all" }, () => true);
}

export const auditEvent = shape(
  () =>
    z
      .strictObject({
        id: idOf("auditEvent"),
        at: time(),
        actor: actor(),
        action: z.string().meta({
          description: "The thing and what was done with it.",
          examples: ["api_key.revoked"],
        }),
        target: z.strictObject({ type: z.string(), id: z.string() }).nullable(),
        platformId: idOf("platform").nullable(),
        applicationId: idOf("application").nullable(),
        outcome: z.enum(["ok", "denied"]),
        ip: z.string(),
        requestId: z.string(),
      })
      .meta({ id: "AuditEvent" }) satisfies z.ZodType<AuditEvent>,
);

export const auditExample = (): ShapeOf<typeof auditEvent> => ({
  id: exampleId("auditEvent"),
  at: "2026-03-04T10:00:00.000Z",
  actor: { kind: "session", id: exampleId("user") },
  action: "api_key.revoked",
  target: { type: "api_key", id: exampleId("key") },
  platformId: exampleId("platform"),
  applicationId: exampleId("application"),
  outcome: "ok",
  ip: "203.0.113.9",
  requestId: exampleId("request"),
});
