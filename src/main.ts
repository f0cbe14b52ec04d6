import { app } from "@azure/functions";
import { endpoints, queues } from "./functions/manifest.ts";
import { timers } from "./functions/timers.ts";
import { readConfig } from "./shared/runtime/config.ts";
import {
  registerRoutes,
  registerTimers,
  registerWorkers,
  type Running,
} from "./shared/http/register.ts";

// An error here is meant to be thrown: caught, the app would start with no function at all.
const config = readConfig();

let running: Promise<Running> | undefined;

async function open(): Promise<Running> {
  try {
    const { openRunning } = await import("./functions/running.ts");
    return openRunning(config);
  } catch (error) {
    // A file of the package that could not be read once may be readable for the next call.
    running = undefined;
    throw error;
  }
}

const load = () => (running ??= open());

registerRoutes(endpoints, load);
registerWorkers(queues, config, load);
registerTimers(timers, config, load);
app.hook.appTerminate(async () => (await running)?.end());
