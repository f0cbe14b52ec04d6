import { app } from "@azure/functions";
import { routes } from "./functions/routes.ts";
import { timers } from "./functions/timers.ts";
import { workers } from "./functions/workers.ts";
import { readConfig } from "./shared/config.ts";
import { registerRoutes } from "./shared/http/register.ts";
import { registerTimers, registerWorkers } from "./shared/http/worker.ts";
import { buildServices } from "./shared/services.ts";

// An error here is meant to be thrown: caught, the app would start with no function at all.
const services = buildServices(readConfig());
registerRoutes(routes, services);
registerWorkers(workers, services);
registerTimers(timers, services);
app.hook.appTerminate(() => services.metrics.flush());
