import type { Clock } from "../runtime/process.ts";
import type { Log } from "../runtime/log.ts";
import type { Cursors } from "../runtime/page.ts";
import type { AuditRing } from "./ring.ts";

export interface AuditDeps {
  readonly clock: Clock;
  readonly log: Log;
  readonly cursors: Cursors;
  readonly audit: AuditRing;
}
