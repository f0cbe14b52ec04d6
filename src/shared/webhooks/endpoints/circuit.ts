const FAILURES_TO_OPEN = 5;
/** A probe comes a little late and takes a while to fail: those that are to come next must not come before its pause ends. */
const ROOM_MS = 20_000;
const PAUSE_MS_MIN = 30_000;
const PAUSE_MS_MAX = 5 * 60_000 - ROOM_MS;
/** However long it takes, a delivery that waits looks again: should nobody call it, it is late by this much at most. */
const WAIT_MS_MIN = 15 * 60_000;
const WAIT_MS_MAX = 60 * 60_000;

/** An endpoint that fails again and again: new deliveries wait, and one at a time tries whether it is well. */
export interface Circuit {
  readonly openedAt: string;
  /** Before then none of those that wait is tried. Every failure puts it off. */
  readonly probeAt: string;
  /** When the next one that has to wait may look again; those before it were given earlier times. */
  readonly wakeAt: string;
}

const clamp = (value: number, least: number, most: number) =>
  Math.min(Math.max(value, least), most);

/** Grows with the time that the endpoint has been failing, which doubles it from probe to probe. */
function pauseAfter({ openedAt }: Pick<Circuit, "openedAt">, at: number): number {
  return clamp(at - Date.parse(openedAt), PAUSE_MS_MIN, PAUSE_MS_MAX);
}

const later = (at: number, ms: number) => new Date(at + ms).toISOString();

/** The circuit after a failure, the last of so many in a row. */
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

/** A delivery that nobody tried yet, as far as the circuit goes. */
export interface Waiting {
  readonly createdAt: string;
  /** When it is to look again, where it was told to. */
  readonly waitsUntil: string | null;
}

/** What such a delivery may do. `circuit`: what becomes of the circuit by it. */
export type Passage =
  | { readonly kind: "pass" }
  | { readonly kind: "probe"; readonly circuit: Circuit }
  | { readonly kind: "wait"; readonly until: string; readonly circuit: Circuit };

/**
 * Whoever comes after the pause is the probe and begins the next pause. The others look again one after the other, at
 * the times of the probes to come; those beyond what can be foreseen look again all the same, the older the rarer.
 */
export function passage(
  circuit: Circuit | null,
  { createdAt, waitsUntil }: Waiting,
  now: Date,
): Passage {
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
