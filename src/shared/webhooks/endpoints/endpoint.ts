import { isIP } from "node:net";
import type { EventType } from "../../events/events.ts";
import { refuseIssues, type Issue } from "../../runtime/errors.ts";
import type { WaitingRequests } from "../../limits/limits.ts";
import type { NameResolver } from "../../runtime/resolve-host.ts";
import {
  allowList,
  isAllowedAddress,
  isOfDevelopment,
  refusedPublicUrl,
} from "../../runtime/outbound.ts";
import type { Config } from "../../config/config.ts";

/** The events that an endpoint wants: every event, or one type. */
export type EventFilter = EventType | "*";

/** The address to which an application's events are sent, without its secrets. */
export interface Endpoint {
  readonly id: string;
  readonly platformId: string;
  readonly applicationId: string;
  readonly url: string;
  readonly description: string | null;
  readonly events: readonly EventFilter[];
  readonly status: "active" | "disabled";
  readonly disabledReason: string | null;
  readonly secretHint: string;
  readonly createdAt: string;
  readonly updatedAt: string;
}

/** Health of an endpoint. `failing`: its latest attempts failed. `waiting`: so many that new deliveries wait. */
interface EndpointHealth {
  readonly state: "ok" | "failing" | "waiting";
  readonly failuresInARow: number;
  readonly failingSince: string | null;
  /** Null while the endpoint is healthy or disabled, and when nothing is to be sent. */
  readonly nextTryAt: string | null;
}

/** The recent results of an endpoint's deliveries. A separate row, so that they never conflict with a change. */
export interface EndpointResults {
  readonly lastSuccessAt: string | null;
  readonly lastFailureAt: string | null;
  readonly health: EndpointHealth;
}

export const NO_RESULTS: EndpointResults = {
  lastSuccessAt: null,
  lastFailureAt: null,
  health: { state: "ok", failuresInARow: 0, failingSince: null, nextTryAt: null },
};

/** Failures that may show that an endpoint is abandoned. */
interface Failures {
  /** Since the last success. */
  readonly failures: number;
  readonly failingSince: string | null;
}

const FAILURES_MIN = 20;
const FAILING_MS_MIN = 5 * 24 * 60 * 60 * 1000;

/** Reports whether the endpoint has failed for five days and at least 20 attempts. */
export function isAbandoned({ failures, failingSince }: Failures, now: Date): boolean {
  if (failures < FAILURES_MIN || failingSince === null) return false;
  return now.getTime() - Date.parse(failingSince) >= FAILING_MS_MIN;
}

export function wants({ events }: Endpoint, type: EventType): boolean {
  return events.includes("*") || events.includes(type);
}

export function viewEndpoint(endpoint: Endpoint, results: EndpointResults) {
  const { lastSuccessAt, lastFailureAt, health } = results;
  // Nothing is sent to a disabled endpoint. Its earlier failures stay visible.
  const isTried = endpoint.status === "active";
  return {
    id: endpoint.id,
    applicationId: endpoint.applicationId,
    url: endpoint.url,
    description: endpoint.description,
    events: endpoint.events,
    status: endpoint.status,
    disabledReason: endpoint.disabledReason,
    secretHint: endpoint.secretHint,
    lastSuccessAt,
    lastFailureAt,
    health: isTried ? health : { ...health, nextTryAt: null },
    createdAt: endpoint.createdAt,
    updatedAt: endpoint.updatedAt,
  };
}

/** For a restricted key, the address is null like the hint, because it may contain a secret. */
export type EndpointView = Omit<ReturnType<typeof viewEndpoint>, "url" | "secretHint"> & {
  readonly url: string | null;
  readonly secretHint: string | null;
};
/** The secret is only shown in this answer. */
export type EndpointWithSecret = ReturnType<typeof viewEndpoint> & { readonly secret: string };

/** Resolves a host name for a customer. */
export interface LookUps {
  readonly names: NameResolver;
  /** Limits requests that wait for servers that customers chose. */
  readonly waits: WaitingRequests;
}

interface EndpointDeps {
  readonly config: Pick<Config, "outbound">;
  readonly calls: LookUps;
}

type EndpointOwner = Pick<Endpoint, "platformId">;

async function reasonAgainst(
  deps: EndpointDeps,
  owner: EndpointOwner,
  text: string,
): Promise<string | undefined> {
  const { outbound } = deps.config;
  if (/^https?:\/\/[^/?#\\]*@/i.test(text))
    return "must not carry a user name or a password: leave them out, and verify the signature of each delivery";
  const reason = refusedPublicUrl(text, outbound);
  if (reason !== undefined) return reason;
  const url = new URL(text);
  if (url.hash !== "") return "must not have a fragment (#…): no server gets to see it";
  return isOfDevelopment(url, outbound) ? undefined : await reasonOfName(deps, owner, url);
}

/**
 * Returns why a host name must not be called, if so. Each attempt also checks the address that it dials. A name that
 * exists in our own network alone and a name that doesn't exist have the same reason, or callers could find out which
 * names our network knows.
 */
async function reasonOfName(
  deps: EndpointDeps,
  { platformId }: EndpointOwner,
  { hostname }: URL,
): Promise<string | undefined> {
  if (isIP(hostname.replace(/^\[|\]$/g, "")) !== 0) return undefined;
  const allowed = allowList(deps.config.outbound.allowCidrs);
  const addresses = await deps.calls.waits.run(platformId, () =>
    deps.calls.names.resolve(hostname, platformId),
  );
  const isPublic = addresses?.every(({ address }) => isAllowedAddress(address, allowed)) ?? false;
  return isPublic
    ? undefined
    : "must have a host name that leads to a public address: check its spelling and its DNS records";
}

/** Returns the problem of an endpoint's address. The schema reports values that are no text or too long. */
export async function endpointUrlIssues(
  deps: EndpointDeps,
  owner: EndpointOwner,
  url: unknown,
): Promise<readonly Issue[]> {
  const message = typeof url === "string" ? await reasonAgainst(deps, owner, url) : undefined;
  return message === undefined ? [] : [{ path: "url", code: "refused_url", message }];
}

/** Returns the address of an endpoint in its normal form. @throws AppError `validation_failed` with the reason */
export async function endpointUrl(
  deps: EndpointDeps,
  owner: EndpointOwner,
  text: string,
): Promise<string> {
  refuseIssues(await endpointUrlIssues(deps, owner, text));
  return new URL(text).href;
}
