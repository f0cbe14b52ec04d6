import { pathToFileURL } from "node:url";
import { provideCoreModule, WorkerApp } from "./core-api.ts";
import type { HostLog } from "./host-log.ts";
import { readOnly } from "./hooks.ts";

/** The app threw while it was loading; the cause is what it threw. */
export class AppLoadError extends Error {}

/**
 * Loads the app's entry point and runs its appStart hooks. What the app throws while loading is thrown on: the Functions
 * host would go on without a single function, which helps nobody on a developer's machine.
 */
export async function loadApp(appRoot: string, entry: string, log: HostLog): Promise<WorkerApp> {
  const app = new WorkerApp(log);
  const takeBack = provideCoreModule(app);
  try {
    await import(pathToFileURL(entry).href);
    await app.hooks.run(
      "appStart",
      readOnly(
        {
          hookData: app.hooks.appLevelHookData,
          appHookData: app.hooks.appHookData,
          functionAppDirectory: appRoot,
        },
        ["hookData", "appHookData"],
      ),
    );
  } catch (cause) {
    takeBack();
    throw new AppLoadError(`${entry} failed while it was loading`, { cause });
  }
  await refuseStreaming(app);
  if (app.functions.size === 0) throw new Error(`${entry} registered no function`);
  app.started = true;
  return app;
}

/** Asking for the capabilities also locks the library's set-up, as it does in the worker. */
async function refuseStreaming({ programmingModel }: WorkerApp): Promise<void> {
  const capabilities = await programmingModel?.getCapabilities?.({});
  if (capabilities?.["HttpUri"] !== undefined)
    throw new Error("the local host has no HTTP streams: leave enableHttpStream off");
}

export async function endApp(app: WorkerApp): Promise<void> {
  await app.hooks.run(
    "appTerminate",
    readOnly({ hookData: app.hooks.appLevelHookData, appHookData: app.hooks.appHookData }, [
      "hookData",
      "appHookData",
    ]),
  );
}
