import type { Circuit } from "./circuit.ts";
import type { EventType } from "../events/event.ts";
import { refuseIssues, type Issue } from "../../runtime/errors.ts";
import { refusedUrl } from "../../runtime/outbound.ts";
import type { Config } from "../../runtime/config.ts";

/** What an endpoint wants: every event, or those that it names. */
export type EventFilter = EventType | "*";

/** Where an application's events are sent, without its secrets. */
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

/** How its deliveries went of late. Kept apart from the endpoint, so that they never stand in the way of a change. */
export interface EndpointHealth {
  readonly lastSuccessAt: string | null;
  readonly lastFailureAt: string | null;
  /** Since the last success. */
  readonly failures: number;
  readonly failingSince: string | null;
  /** Null while it is closed. */
  readonly circuit: Circuit | null;
}

export const HEALTHY: EndpointHealth = {
  lastSuccessAt: null,
  lastFailureAt: null,
  failures: 0,
  failingSince: null,
  circuit: null,
};

const FAILURES_MIN = 20;
const FAILING_MS_MIN = 5 * 24 * 60 * 60 * 1000;

/** Nothing was delivered for days although much was tried: nobody listens any more. */
export function isAbandoned({ failures, failingSince }: EndpointHealth, now: Date): boolean {
  if (failures < FAILURES_MIN || failingSince === null) return false;
  return now.getTime() - Date.parse(failingSince) >= FAILING_MS_MIN;
}

export function wants({ events }: Endpoint, type: EventType): boolean {
  return events.includes("*") || events.includes(type);
}

export interface EndpointView {
  readonly id: string;
  readonly applicationId: string;
  /** Null, like the hint, for a restricted key: an address may be a secret as much as what signs. */
  readonly url: string | null;
  readonly description: string | null;
  readonly events: readonly EventFilter[];
  readonly status: "active" | "disabled";
  readonly disabledReason: string | null;
  readonly secretHint: string | null;
  readonly lastSuccessAt: string | null;
  readonly lastFailureAt: string | null;
  readonly createdAt: string;
  readonly updatedAt: string;
}

export interface EndpointWithSecret extends EndpointView {
  readonly url: string;
  readonly secretHint: string;
  /** The only time it is shown. */
  readonly secret: string;
}

export function viewEndpoint(endpoint: Endpoint, health: EndpointHealth) {
  return {
    id: endpoint.id,
    applicationId: endpoint.applicationId,
    url: endpoint.url,
    description: endpoint.description,
    events: endpoint.events,
    status: endpoint.status,
    disabledReason: endpoint.disabledReason,
    secretHint: endpoint.secretHint,
    lastSuccessAt: health.lastSuccessAt,
    lastFailureAt: health.lastFailureAt,
    createdAt: endpoint.createdAt,
    updatedAt: endpoint.updatedAt,
  } satisfies EndpointView;
}

interface Settings {
  readonly config: Pick<Config, "outbound">;
}

/** Development only: a host that the settings map to a stand-in may be any name. */
function isMapped({ config }: Settings, { protocol, hostname, username, password }: URL): boolean {
  const isPlain = protocol === "https:" && username === "" && password === "";
  return isPlain && config.outbound.hostMap[hostname] !== undefined;
}

function reasonAgainst(services: Settings, text: string): string | undefined {
  if (!URL.canParse(text)) return "not a URL";
  const url = new URL(text);
  const reason = isMapped(services, url) ? undefined : refusedUrl(text);
  if (reason !== undefined) return reason;
  return url.hash === "" ? undefined : "carries a fragment, which no server gets to see";
}

/** What is wrong with an endpoint's address. What is no text, or none that fits, the schema tells. */
export function endpointUrlIssues(services: Settings, url: unknown): readonly Issue[] {
  const message = typeof url === "string" ? reasonAgainst(services, url) : undefined;
  return message === undefined ? [] : [{ path: "url", code: "refused_url", message }];
}

/** The address of an endpoint in its normal form. @throws AppError `validation_failed` with the reason */
export function endpointUrl(services: Settings, text: string): string {
  refuseIssues(endpointUrlIssues(services, text));
  return new URL(text).href;
}
