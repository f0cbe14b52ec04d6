const FAILURES_TO_OPEN = 5;
/** A probe starts late and takes time to fail: the next delivery must not come before the pause after it ends. */
const ROOM_MS = 20_000;
const PAUSE_MS_MIN = 30_000;
const PAUSE_MS_MAX = 5 * 60_000 - ROOM_MS;
/** Bounds of the time until a waiting delivery's next check, in case the hint of a closing circuit is lost. */
const WAIT_MS_MIN = 15 * 60_000;
const WAIT_MS_MAX = 60 * 60_000;

/** The state of an endpoint that keeps failing: new deliveries wait, and one at a time probes the endpoint. */
export interface Circuit {
  readonly openedAt: string;
  /** The time of the next probe. Every failure moves it. */
  readonly probeAt: string;
  /** When the next delivery that starts to wait is checked again. */
  readonly wakeAt: string;
}

const clamp = (value: number, least: number, most: number) =>
  Math.min(Math.max(value, least), most);

/** Returns the pause until the next probe, which doubles from probe to probe. */
function pauseAfter({ openedAt }: Pick<Circuit, "openedAt">, at: number): number {
  return clamp(at - Date.parse(openedAt), PAUSE_MS_MIN, PAUSE_MS_MAX);
}

const later = (at: number, ms: number) => new Date(at + ms).toISOString();

/** Returns the circuit after so many failures in a row; null while it stays closed. */
export function circuitAfterFailure(
  before: Circuit | null,
  failures: number,
  now: Date,
): Circuit | null {
  if (before === null && failures < FAILURES_TO_OPEN) return null;
  const openedAt = before?.openedAt ?? now.toISOString();
  const probeAt = later(now.getTime(), pauseAfter({ openedAt }, now.getTime()));
  return { openedAt, probeAt, wakeAt: before?.wakeAt ?? probeAt };
}

/** What the circuit needs to know of a delivery without an attempt. */
export interface Waiting {
  readonly createdAt: string;
  /** When it is checked again; null when it does not wait yet. */
  readonly waitsUntil: string | null;
}

/** What such a delivery may do. `circuit`: the circuit after it. */
export type Admission =
  | { readonly kind: "pass" }
  | { readonly kind: "probe"; readonly circuit: Circuit }
  | { readonly kind: "wait"; readonly until: string; readonly circuit: Circuit };

/**
 * Decides whether a delivery may be attempted. The first one after the pause is the probe and begins the next pause.
 * The others are checked again one by one at the times of later probes, at latest after a wait that grows with age.
 */
export function admission(
  circuit: Circuit | null,
  { createdAt, waitsUntil }: Waiting,
  now: Date,
): Admission {
  if (circuit === null) return { kind: "pass" };
  const time = now.getTime();
  const at = now.toISOString();
  if (circuit.probeAt <= at) {
    const probeAt = later(time, pauseAfter(circuit, time));
    return { kind: "probe", circuit: { ...circuit, probeAt } };
  }
  if (waitsUntil !== null && waitsUntil > at) return { kind: "wait", until: waitsUntil, circuit };
  const wake = Math.max(Date.parse(circuit.wakeAt), Date.parse(circuit.probeAt));
  const latest = time + clamp(time - Date.parse(createdAt), WAIT_MS_MIN, WAIT_MS_MAX);
  if (wake > latest) return { kind: "wait", until: later(latest, 0), circuit };
  const wakeAt = later(wake, pauseAfter(circuit, wake) + ROOM_MS);
  return { kind: "wait", until: later(wake, 0), circuit: { ...circuit, wakeAt } };
}
