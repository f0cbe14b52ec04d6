import * as z from "zod";
import { actor } from "../callers/caller.ts";
import { idOf, time } from "../runtime/fields.ts";
import { exampleId } from "../runtime/ids.ts";
import { pageQuery } from "../runtime/page.ts";
import { shape, type ShapeOf } from "../runtime/shape.ts";

export const ListAuditQuery = shape(() => z.strictObject(pageQuery()));
export type ListAudit = ShapeOf<typeof ListAuditQuery>;

export const auditEvent = shape(() =>
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
    .meta({ id: "AuditEvent" }),
);
export type AuditEvent = ShapeOf<typeof auditEvent>;

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
