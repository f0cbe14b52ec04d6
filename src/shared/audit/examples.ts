import { exampleId } from "../runtime/ids.ts";
import type { ShapeOf } from "../runtime/shape.ts";
import type { auditEvent } from "./answer-schema.ts";

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
