export interface ReadinessCheck {
  readonly status: "ok" | "failed";
  readonly durationMs: number;
}

export interface Readiness {
  readonly status: "ready";
  /** Absent where the relay sends no mail. A mail server that fails delays mails, and no request. */
  readonly mail?: "ok" | "failing" | undefined;
  readonly checks: {
    readonly tables: ReadinessCheck;
    readonly queues: ReadinessCheck;
    readonly config: ReadinessCheck;
  };
}
