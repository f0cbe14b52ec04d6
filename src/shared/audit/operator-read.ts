import type { OperatorScope } from "../callers/scope.ts";
import { AppError } from "../runtime/errors.ts";
import { isId } from "../runtime/ids.ts";
import type { AuditDeps } from "./deps.ts";
import { recordAudit } from "./record.ts";

interface Looked {
  readonly action: string;
  /** Of one platform. */
  readonly platformId?: string;
}

/** What an operator looks at of the platforms, recorded: `denied` where there was nothing to see. */
export async function operatorRead<T>(
  services: AuditDeps,
  scope: OperatorScope,
  { action, platformId = "" }: Looked,
  read: () => T | Promise<T>,
): Promise<T> {
  // What is no id may be anything, and of any length.
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
