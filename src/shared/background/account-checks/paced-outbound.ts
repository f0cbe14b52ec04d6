import { setTimeout as wait } from "node:timers/promises";
import { HttpFailure, type HttpRequest, type HttpResponse } from "../../runtime/http-call.ts";
import type { Outbound } from "../../runtime/outbound.ts";

/** Nobody waits for these calls: a host gets ten of them a second at most. */
const GAP_MS = 100;
/** A host that fails so often in a row is left alone for the rest of the run. */
const FAILURES_MAX = 3;
const REMEMBERED_MAX = 500;

interface Host {
  /** When the next call may begin. */
  freeAt: number;
  failures: number;
}

/** What anybody may read, the same for all accounts of a server. */
function isShared({ method, url, headers = {} }: HttpRequest): boolean {
  const names = Object.keys(headers).map((name) => name.toLowerCase());
  return method === "GET" && new URL(url).search === "" && !names.includes("authorization");
}

/**
 * For one run over many accounts: spaces the calls to each host, asks a server once for what is the same for all of its
 * accounts, and stops dialling a host that does not answer.
 */
export function pacedOutbound(outbound: Outbound, gapMs = GAP_MS): Outbound {
  const hosts = new Map<string, Host>();
  const shared = new Map<string, Promise<HttpResponse>>();

  async function dial(request: HttpRequest): Promise<HttpResponse> {
    const { host: name } = new URL(request.url);
    const host = hosts.get(name) ?? { freeAt: 0, failures: 0 };
    hosts.set(name, host);
    const now = performance.now();
    const at = Math.max(host.freeAt, now);
    host.freeAt = at + gapMs;
    if (at > now) await wait(at - now);
    if (host.failures >= FAILURES_MAX) throw new HttpFailure("not_sent", "connect_failed");
    try {
      const response = await outbound.request(request);
      host.failures = response.status === 429 || response.status >= 500 ? host.failures + 1 : 0;
      return response;
    } catch (error) {
      host.failures += 1;
      throw error;
    }
  }

  return {
    ...outbound,
    request(request) {
      if (!isShared(request)) return dial(request);
      const known = shared.get(request.url);
      if (known !== undefined) return known;
      const answer = dial(request);
      if (shared.size < REMEMBERED_MAX) shared.set(request.url, answer);
      return answer;
    },
  };
}
