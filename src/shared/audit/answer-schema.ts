import * as z from "zod";
import { actor } from "../callers/answer-schema.ts";
import { idOf, time } from "../runtime/fields.ts";
import { shape } from "../runtime/shape.ts";
import type { AuditEvent } from "./ring.ts";

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
