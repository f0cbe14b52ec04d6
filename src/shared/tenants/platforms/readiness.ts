/** What one check came to. */
export interface Check {
  readonly status: "ok" | "failed";
  readonly durationMs: number;
}

/** The answer of a service that is ready. */
export interface Readiness {
  readonly status: "ready";
  readonly checks: { readonly tables: Check; readonly queues: Check; readonly config: Check };
}
