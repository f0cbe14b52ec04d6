export interface Check {
  readonly status: "ok" | "failed";
  readonly durationMs: number;
}

export interface Readiness {
  readonly status: "ready";
  readonly checks: { readonly tables: Check; readonly queues: Check; readonly config: Check };
}
