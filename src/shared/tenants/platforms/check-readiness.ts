import { AppError } from "../../runtime/errors.ts";
import type { TenantsDeps } from "../deps.ts";

const CHECK_TIMEOUT_MS = 3_000;

interface Check {
  readonly status: "ok" | "failed";
  readonly durationMs: number;
}

export interface Readiness {
  readonly status: "ready";
  readonly checks: { readonly tables: Check; readonly queues: Check; readonly config: Check };
}

async function timed(work: () => Promise<unknown>): Promise<Check> {
  const startedAt = performance.now();
  const { promise: late, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new Error("no answer in time")), CHECK_TIMEOUT_MS);
  let status: Check["status"] = "ok";
  try {
    await Promise.race([work(), late]);
  } catch {
    // The answer says which part failed; why is no business of an anonymous caller.
    status = "failed";
  } finally {
    clearTimeout(timer);
  }
  return { status, durationMs: Math.round(performance.now() - startedAt) };
}

/** What a process has to have made of its settings before it can sign anybody in. */
async function useSecrets(services: TenantsDeps): Promise<void> {
  const claims = { userId: "readiness", platformId: "readiness", version: 0 };
  const { token } = await services.sessions.issue(claims);
  await services.sessions.verify(token);
}

/** @throws AppError `not_ready` with the checks in its details */
export async function checkReadiness(services: TenantsDeps): Promise<Readiness> {
  const [tables, queues, config] = await Promise.all([
    timed(() => services.platforms.ping()),
    timed(() => services.publishQueue.ping()),
    timed(() => useSecrets(services)),
  ]);
  const checks = { tables, queues, config };
  if (Object.values(checks).some(({ status }) => status === "failed"))
    throw new AppError("not_ready", "The service is not ready.", { details: { checks } });
  return { status: "ready", checks };
}
