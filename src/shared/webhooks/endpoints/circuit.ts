const FAILURES_TO_OPEN = 5;
const PAUSE_MS_MIN = 30_000;
/** Less than five minutes by the time that a probe takes to fail. */
const PAUSE_MS_MAX = 280_000;

/** The state of an endpoint that keeps failing: new deliveries are held, and one at a time probes the endpoint. */
export interface Circuit {
  readonly openedAt: string;
  /** The time of the next probe. Every failure moves it. */
  readonly probeAt: string;
}

/** Returns the circuit after so many failures in a row; null while it stays closed. The pause doubles each time. */
export function circuitAfterFailure(
  before: Circuit | null,
  failures: number,
  now: Date,
): Circuit | null {
  if (before === null && failures < FAILURES_TO_OPEN) return null;
  const openedAt = before?.openedAt ?? now.toISOString();
  const openMs = now.getTime() - Date.parse(openedAt);
  const pauseMs = Math.min(Math.max(openMs, PAUSE_MS_MIN), PAUSE_MS_MAX);
  return { openedAt, probeAt: new Date(now.getTime() + pauseMs).toISOString() };
}
