import {
  checkAccountsOf,
  isRotating,
  resealHosts,
  type ProfileChecks,
} from "../../connections/connections.ts";
import {
  addCounts,
  stepsWith,
  type TakeStep,
  type WalkAt,
  type WalkStep,
} from "../../runtime/walk-step.ts";
import type { BackgroundDeps } from "../deps.ts";
import { setTimeout as wait } from "node:timers/promises";
import { HttpFailure, type HttpRequest, type HttpResponse } from "../../runtime/http-call.ts";
import type { Outbound } from "../../runtime/outbound.ts";
import { resealSecondFactors } from "../../people/people.ts";
import { listPlatformIds } from "../../tenants/tenants.ts";
import { resealEndpoints } from "../../webhooks/webhooks.ts";

/**
 * Seals a platform's other secrets with the first data key: signing secrets of webhooks, TOTP secrets of users. Returns
 * the key of each sealed text afterwards.
 */
async function resealPlatform(deps: BackgroundDeps, platformId: string): Promise<string[]> {
  const [endpoints, users] = await Promise.all([
    resealEndpoints(deps.webhooks, platformId),
    resealSecondFactors(deps.people, platformId),
  ]);
  return [...endpoints, ...users];
}

/** Nothing waits for these calls, so a host gets at most ten per second. */
const GAP_MS = 100;
/** A host that fails this often in a row is not called again in the same run. */
const FAILURES_MAX = 3;
const REMEMBERED_MAX = 500;

interface Host {
  /** When the next call may begin. */
  freeAt: number;
  failures: number;
}

/** Reports whether the answer is public, so that it is the same for all accounts of a server. */
function isShared({ method, url, headers = {} }: HttpRequest): boolean {
  const names = Object.keys(headers).map((name) => name.toLowerCase());
  return method === "GET" && new URL(url).search === "" && !names.includes("authorization");
}

/**
 * Makes a client for one run over many accounts. It spaces the calls to each host, requests public data of a server
 * once, and stops calling a host that doesn't answer.
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

/** Size of a page of the index of platforms. */
const PLATFORMS_OF_PAGE = 1_000;
/** A round is spread over the runs of a day. Some are left free, in case of outages. */
const RUNS_OF_ROUND = 20;
/** Prefix of the count of texts that are sealed with a key. */
const SEALED = "sealed ";

/** Maximum work between two scheduled times. */
interface Bounds {
  readonly connectionsMin: number;
  /** Few enough that a step ends within a minute even if no server answers. */
  readonly connectionsOfPage: number;
}
const BOUNDS: Bounds = { connectionsMin: 500, connectionsOfPage: 16 };

interface RoundPosition {
  /** Position of the last finished platform in the index, or "" at the beginning. */
  readonly platforms: string;
  /** The last checked connection of the next platform, or "" for none. */
  readonly connection: string;
  /** Connections checked since the walk rested. */
  readonly connections: number;
  /** Position in the table of hosts, after all platforms. Absent at its beginning. */
  readonly hosts?: string;
}
const START: RoundPosition = { platforms: "", connection: "", connections: 0 };

interface ListedPlatform {
  readonly id: string;
  readonly after: string;
}

function countsOf(
  checks: readonly ProfileChecks[],
  keys: readonly string[],
): Record<string, number> {
  const counts = checks.reduce((sum, { tally }) => addCounts(sum, tally), {});
  return keys.reduce((sum, key) => addCounts(sum, { [SEALED + key]: 1 }), counts);
}

/** Does the work that belongs to no platform, and ends the round. */
async function finishRound(
  deps: BackgroundDeps,
  at: WalkAt,
  position: RoundPosition,
): Promise<WalkStep<RoundPosition>> {
  if (!isRotating(deps.config)) return { next: undefined };
  const page = await resealHosts(deps.connections, position.hosts);
  const counts = countsOf([], page.keys);
  if (page.next !== undefined) return { next: { ...position, hosts: page.next }, counts };
  const dataKeys = Object.entries(addCounts(at.counts, counts))
    .filter(([name]) => name.startsWith(SEALED))
    .map(([name, texts]) => ({ id: name.slice(SEALED.length), texts }));
  deps.log.info("sealed texts by data key", { dataKeys });
  return { next: undefined, counts };
}

/**
 * Makes the steps that check all linked accounts once a day, a part at each scheduled time, and seal secrets again
 * after a rotation of data keys. Everything may be repeated.
 */
export function checkAccounts(deps: BackgroundDeps, bounds = BOUNDS): TakeStep {
  const outbound = pacedOutbound(deps.connections.outbound);
  const paced = { ...deps.connections, outbound };
  // Makes the function that finds the next platform in the order of their index, which it reads ahead.
  let start = "";
  let items: readonly ListedPlatform[] = [];
  let isLastPage = false;
  const nextPlatform = async (after: string): Promise<ListedPlatform | undefined> => {
    const at = items.findIndex((item) => item.after > after);
    if (items.length > 0 && after >= start && (at >= 0 || isLastPage)) return items[at];
    const from = after === "" ? undefined : after;
    const page = await listPlatformIds(deps.tenants, from, PLATFORMS_OF_PAGE);
    [start, items, isLastPage] = [after, page.items, page.next === undefined];
    return items[0];
  };
  return stepsWith<RoundPosition>(async (at) => {
    const position = at.position ?? START;
    const platform = await nextPlatform(position.platforms);
    if (platform === undefined) return finishRound(deps, at, position);
    const isFirst = position.connection === "";
    const keys = isFirst && isRotating(deps.config) ? await resealPlatform(deps, platform.id) : [];
    const page = { after: position.connection, limit: bounds.connectionsOfPage };
    const { accounts, next: last, checks } = await checkAccountsOf(paced, platform.id, page);
    const counts = countsOf(checks, [...keys, ...checks.flatMap((one) => one.keys)]);
    const max = Math.max(
      bounds.connectionsMin,
      Math.ceil((at.lastCounts["connections"] ?? 0) / RUNS_OF_ROUND),
    );
    const connections = position.connections + accounts;
    const rests = connections >= max;
    const next: RoundPosition = {
      platforms: last === undefined ? platform.after : position.platforms,
      connection: last ?? "",
      connections: rests ? 0 : connections,
    };
    return { next, counts: { ...counts, connections: accounts }, rests };
  });
}
