import type { Answer, Exchange } from "../exchange.ts";
import type { Route } from "../network.ts";
import { graphRefusal } from "./errors.ts";

/** Versions that answer; the last one is the newest. */
const GRAPH_VERSIONS = ["v22.0", "v23.0", "v24.0", "v25.0", "v26.0"] as const;
const GRAPH_VERSION = "v26.0";

/** Refuses a version that ended, and a path that names none. */
export function checkVersion(exchange: Exchange): void {
  const version = exchange.params["version"] ?? "";
  if (GRAPH_VERSIONS.some((known) => known === version)) return;
  const number = Number(/^v(\d+)\.\d$/.exec(version)?.[1]);
  if (number < 22)
    throw graphRefusal({
      message: `(#2635) You are calling a deprecated version of the API. Please update to the latest version: ${GRAPH_VERSION}.`,
      code: 2635,
    });
  throw graphRefusal({ message: `Unknown path components: ${exchange.path}`, code: 2500 });
}

/** A route under `/{version}` whose version is checked before anything else. */
export function versioned(route: Route): Route {
  return {
    ...route,
    path: `/{version}${route.path}`,
    run: (exchange, plan): Answer | Promise<Answer> => {
      checkVersion(exchange);
      return route.run(exchange, plan);
    },
  };
}
