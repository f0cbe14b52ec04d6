import { headersOf, type Tenant } from "./relay.ts";
import type { StartOrder } from "./starter.ts";

type StartCall = StartOrder["calls"][number];

const BASE = "http://localhost/api/";

/** A request by hand, as the host gives it to the worker. */
export function callOf(tenant: Tenant, functionName: string, path: string): StartCall {
  const headers = Object.entries(headersOf(tenant)).map(([name, value]) => [name, { value }]);
  return {
    functionName,
    http: { method: "GET", url: BASE + path, nullableHeaders: Object.fromEntries(headers) },
  };
}

export const HEALTH_CALL: StartCall = {
  functionName: "get-health",
  http: { method: "GET", url: `${BASE}health`, nullableHeaders: {} },
};
