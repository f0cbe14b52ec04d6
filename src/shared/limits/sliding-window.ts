export const WINDOW_MS = 60_000;

/** Counts of the minute that contains a time, and of the minute before. */
export interface Usage {
  readonly current: number;
  readonly previous: number;
}

const ROUNDING = 1e-9;

export const minuteIndex = (now: number): number => Math.floor(now / WINDOW_MS);

/** Counts the last sixty seconds: this minute, and the share of the previous one that they still overlap. */
export function weightedCount({ current, previous }: Usage, now: number): number {
  const elapsed = (now % WINDOW_MS) / WINDOW_MS;
  return current + previous * (1 - elapsed);
}

/** Reports whether one more request keeps the weighted count within the limit. */
export function hasRoom(count: number, limit: number): boolean {
  return count + 1 <= limit + ROUNDING;
}

/** Returns the whole seconds, at least one, until one more request fits if none is counted meanwhile. */
export function secondsUntilRoom({ current, previous }: Usage, limit: number, now: number): number {
  const start = minuteIndex(now) * WINDOW_MS;
  const spare = limit - 1;
  let at = now;
  // This minute alone has too many. It has to become the previous one, whose weight falls.
  if (current > spare) at = start + WINDOW_MS + WINDOW_MS * (1 - spare / current);
  else if (previous > 0) at = start + WINDOW_MS * (1 - (spare - current) / previous);
  return Math.max(1, Math.ceil((at - now) / 1000));
}

/** Returns the whole seconds, at least one, until the next minute. */
export function secondsUntilNextMinute(now: number): number {
  return Math.max(1, Math.ceil((WINDOW_MS - (now % WINDOW_MS)) / 1000));
}

/** How far all instances together may exceed the limit, as a share of it. */
const TOLERANCE = 0.1;
/** The documented number of instances for the tolerance, assumed until the real number is known. */
export const INSTANCES_ASSUMED = 8;
/**
 * Counts that were read longer ago than this are read again. How far instances exceed a limit depends on the requests
 * that they admit unseen by the others, not on this.
 */
export const FRESH_MS = 5_000;

/** What a process knows about a subject's window when it decides on a request. */
export interface WindowView {
  readonly limit: number;
  /** The weighted count of all instances as far as known, without this request. */
  readonly count: number;
  /** Requests admitted here since the last exchange began. The others may not know them yet. */
  readonly unseen: number;
  /** The number of instances that count in this window, including this one. */
  readonly instances: number;
  /** Whether an exchange of counts ended or failed a short time ago. */
  readonly isFresh: boolean;
  /** Whether the last exchange failed or takes too long. This process then decides by the counts that it knows. */
  readonly failing: boolean;
  /** Whether an exchange ended while this request was waiting. */
  readonly waited: boolean;
}

/** `exchange`: counts are exchanged in parallel, and the request doesn't wait for it. */
export type AdmitStep =
  | { readonly kind: "grant"; readonly exchange: boolean }
  | { readonly kind: "deny" }
  | { readonly kind: "wait" };

const DENY: AdmitStep = { kind: "deny" };
const WAIT: AdmitStep = { kind: "wait" };
const grant = (exchange: boolean): AdmitStep => ({ kind: "grant", exchange });

const between = (low: number, value: number, high: number) => Math.max(low, Math.min(value, high));

/**
 * Returns how many requests an instance may admit unseen by the others. When the count in storage reaches the limit, each of
 * the others may have admitted this many more, so all together stay within the tolerance.
 */
export function unseenMax(limit: number, instances: number): number {
  const alone = Math.ceil(limit / 15);
  if (instances <= 1) return alone;
  return between(1, Math.floor((limit * TOLERANCE) / (instances - 1)), alone);
}

/** Returns after how many admitted requests counts are exchanged: early enough that the next ones need not wait. */
export function exchangeAfter(limit: number, instances: number): number {
  const usual = instances > INSTANCES_ASSUMED ? limit / 60 : limit / 30;
  return between(1, Math.ceil(usual), Math.ceil(unseenMax(limit, instances) / 2));
}

/** Decides whether to admit a request, to refuse it, or to exchange counts first. */
export function admissionStep(view: WindowView): AdmitStep {
  const { limit, count, unseen, instances, isFresh } = view;
  const isFull = !hasRoom(count, limit);
  if (view.failing) return isFull ? DENY : grant(!isFresh);
  if (isFull) return isFresh || view.waited ? DENY : WAIT;
  const max = unseenMax(limit, instances);
  // Above this share of the limit, every request waits for an exchange.
  const strictShare = instances > INSTANCES_ASSUMED ? 0.5 : 0.7;
  if (count + 1 > limit * strictShare) {
    // The rest is divided, so that all instances can take their part at the same time.
    const share = between(1, Math.floor((limit - count) / instances), max);
    return view.waited && unseen < share ? grant(false) : WAIT;
  }
  if (unseen >= max) return WAIT;
  return grant(!isFresh || unseen + 1 >= exchangeAfter(limit, instances));
}
