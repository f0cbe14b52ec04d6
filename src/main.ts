import { app } from "@azure/functions";
import { routeKeys, queues } from "./functions/manifest.ts";
import { timers } from "./functions/timers.ts";
import { readConfig } from "./shared/config/config.ts";
import { keepRequestsRepresentable } from "./shared/http/raw-request.ts";
import {
  registerRoutes,
  registerTimers,
  registerWorkers,
  type Running,
} from "./shared/host/register.ts";

// This must throw: if the error were caught, the app would start without any function.
const config = readConfig();

/** The host grants queue and timer functions this long after the signal, and the app after its last hook. */
const WORK_SECONDS = 10;
const TERMINATE_SECONDS = 5;

let running: Promise<Running> | undefined;

async function openApp(): Promise<Running> {
  try {
    const { openRunning } = await import("./functions/running.ts");
    return openRunning(config);
  } catch (error) {
    // The next call tries again, because a file of the package may be readable then.
    running = undefined;
    throw error;
  }
}

const loadRunning = () => (running ??= openApp());

registerRoutes(routeKeys, loadRunning);
registerWorkers(queues, config, loadRunning);
registerTimers(timers, config, loadRunning);
keepRequestsRepresentable();
// When the app's process also gets the signal, it does so before the host's own steps. The host ends the process.
process.once("SIGTERM", () => void running?.then((known) => known.stop(WORK_SECONDS)));
app.hook.appTerminate(async () => (await running)?.end(TERMINATE_SECONDS));
