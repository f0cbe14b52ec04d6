import type { Config } from "../shared/runtime/config.ts";
import { answer, answerUnrouted } from "../shared/http/answer.ts";
import type { Running } from "../shared/http/register.ts";
import type { Endpoint, Route } from "../shared/http/route.ts";
import { runTimer } from "../shared/http/worker.ts";
import { buildServices } from "../shared/compose.ts";
import { onDamagedRow } from "../shared/runtime/storage/damaged-row.ts";
import { healthRoutes } from "./health.ts";
import { endpoints } from "./manifest.ts";
import { postReadRoutes } from "./post-reads.ts";
import { workers } from "./workers.ts";

/** What is asked for first and most often, in the part of the bundle that every call loads; the rest is another. */
const AT_HAND: readonly Route[] = [...healthRoutes, ...postReadRoutes];

async function findRoute({ method, path }: Endpoint): Promise<Route> {
  const isIt = (route: Route) => route.method === method && route.path === path;
  const route = AT_HAND.find(isIt) ?? (await import("./routes.ts")).routes.find(isIt);
  if (route === undefined) throw new Error(`there is no route ${method} ${path}`);
  return route;
}

function workerOf(name: string) {
  const worker = workers.find((known) => known.name === name);
  if (worker === undefined) throw new Error(`there is no worker ${name}`);
  return worker;
}

/** Composes what the registered functions run. Opens nothing: connections are made when they are first used. */
export function openRunning(config: Config): Running {
  const services = buildServices(config);
  const stopReporting = onDamagedRow((damage) => services.log.error("damaged row", { ...damage }));
  return {
    answer: async (endpoint, incoming) => answer(await findRoute(endpoint), services, incoming),
    answerUnrouted: (incoming, path) => answerUnrouted(endpoints, services, incoming, path),
    work: (name, message, host) => workerOf(name).handle(services, message, host),
    runTimer: (timer, isPastDue, host) => runTimer(services, timer, isPastDue, host),
    async end() {
      await services.stop.announce();
      services.metrics.flush();
      stopReporting();
    },
  };
}
