import { HttpFailure, type HttpRequest } from "./http-call.ts";
import type { Outbound } from "./outbound.ts";

export interface CallLimits {
  /** Limit of each call, even of one that names a longer time. By default the call's own, or the network timeout. */
  readonly callMs?: number;
  /** Time limit of all calls together, from now on. */
  readonly totalMs: number;
  readonly owner?: string;
}

/** The client that makes the calls, and the default time limit of a call. */
export interface Calling {
  readonly config: { readonly publishing: { readonly networkTimeoutMs: number } };
  readonly outbound: Pick<Outbound, "request" | "open">;
}

export interface LimitedCalls extends Pick<Outbound, "request" | "open"> {
  /** Milliseconds that all calls together have left, or 0. */
  readonly leftMs: () => number;
}

/**
 * Returns a client with a total time limit. Calls still running at the limit are ended, and a later call fails with
 * `not_sent`.
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
