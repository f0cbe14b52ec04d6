import { HttpFailure, type HttpRequest } from "./http-call.ts";
import type { Outbound } from "./outbound.ts";

export interface CallLimits {
  /** Of each call, also of one that names a longer time; absent: what the call names, or the network timeout. */
  readonly callMs?: number;
  /** Of all calls together, from when they were limited. */
  readonly totalMs: number;
  /** The owner of the calls that name none. */
  readonly owner?: string;
}

/** What makes the calls, and how long one may take that names no time. */
export interface Calling {
  readonly config: { readonly publishing: { readonly networkTimeoutMs: number } };
  readonly outbound: Pick<Outbound, "request" | "open">;
}

/** A client with limits. */
export interface LimitedCalls extends Pick<Outbound, "request" | "open"> {
  /** Milliseconds that are left of the time of all calls; 0 when it is over. */
  readonly leftMs: () => number;
}

/**
 * Returns a client whose calls end in time: none goes on beyond the limit of all, and none is made after it. A call that
 * would be fails with `not_sent`.
 */
export function limitCalls(
  { config, outbound }: Calling,
  { callMs, totalMs, owner }: CallLimits,
): LimitedCalls {
  const endsAt = performance.now() + totalMs;
  const usualMs = callMs ?? config.publishing.networkTimeoutMs;
  const leftMs = () => Math.max(0, Math.floor(endsAt - performance.now()));
  const limited = (request: HttpRequest): HttpRequest => {
    const left = leftMs();
    if (left === 0) throw new HttpFailure("not_sent", "timeout");
    const askedMs = request.timeoutMs ?? usualMs;
    const whose = owner === undefined ? {} : { owner };
    return { ...whose, ...request, timeoutMs: Math.min(askedMs, callMs ?? Infinity, left) };
  };
  return {
    leftMs,
    request: async (request) => outbound.request(limited(request)),
    open: async (request) => outbound.open(limited(request)),
  };
}
