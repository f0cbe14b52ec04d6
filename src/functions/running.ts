import type { Config } from "../shared/config/config.ts";
import { answer, answerUnrouted } from "../shared/http/answer.ts";
import type { Running } from "../shared/host/register.ts";
import type { Route } from "../shared/http/route.ts";
import { runTimer } from "../shared/host/worker.ts";
import { buildServices } from "../shared/compose.ts";
import { onDamagedRow } from "../shared/runtime/storage/damaged-row.ts";
import { healthRoutes } from "./health.ts";
import { routeKeys } from "./manifest.ts";
import { postReadRoutes } from "./post-reads.ts";
import { workers } from "./workers.ts";

/** The first and most frequent routes, in the part of the bundle that every call loads. The others are in another part. */
const AT_HAND: readonly Route[] = [...healthRoutes, ...postReadRoutes];

/** Builds what the registered functions run. Opens no connection, because each is opened on first use. */
export function openRunning(config: Config): Running {
  const services = buildServices(config);
  const stopReporting = onDamagedRow((damage) => {
    if (damage.isNewer === true) services.log.warn("row of a later build", { ...damage });
    else services.log.error("damaged row", { ...damage });
  });
  return {
    services,
    answer,
    runTimer,
    async findRoute({ method, path }) {
      const isIt = (route: Route) => route.method === method && route.path === path;
      const route = AT_HAND.find(isIt) ?? (await import("./routes.ts")).routes.find(isIt);
      if (route === undefined) throw new Error(`there is no route ${method} ${path}`);
      return route;
    },
    findWorker(queue) {
      const worker = workers.find((known) => known.queue === queue);
      if (worker === undefined) throw new Error(`there is no worker of queue ${queue}`);
      return worker;
    },
    answerUnrouted: (incoming, path) => answerUnrouted(routeKeys, services, incoming, path),
    async stop(seconds) {
      await services.background.work.stop.begin(
        new Date(services.clock.now().getTime() + seconds * 1000),
      );
    },
    async end(seconds) {
      await this.stop(seconds);
      services.background.work.metrics.flush();
      stopReporting();
    },
  };
}
