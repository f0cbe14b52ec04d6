import Module from "node:module";
import { pathToFileURL } from "node:url";
import { format } from "node:util";
import type {
  FunctionCallback,
  FunctionMetadata,
  LogCategory,
  LogLevel,
  ProgrammingModel,
} from "./core-types.ts";
import { CONSOLE_CATEGORY, levelOfErrorLine, type HostLog } from "./host-log.ts";

const CORE_MODULE = "@azure/functions-core";

/** Releases of the worker and the host whose behavior this host follows. The library may read them. */
const WORKER_VERSION = "3.12.0";
const HOST_VERSION = "4.1041.0";

/** Wraps what the app throws while it is loaded, as its cause. */
export class AppLoadError extends Error {}

interface RegisteredFunction {
  readonly metadata: FunctionMetadata;
  readonly callback: FunctionCallback;
}

/** What an app registered while it was loaded. */
export class WorkerApp {
  readonly functions = new Map<string, RegisteredFunction>();
  readonly #terminateHooks: ((context: object) => unknown)[] = [];
  readonly #log: HostLog;
  programmingModel: ProgrammingModel | undefined;

  constructor(log: HostLog) {
    this.#log = log;
  }

  register(metadata: FunctionMetadata, callback: FunctionCallback): void {
    if (this.functions.has(metadata.name))
      throw new Error(`A function named "${metadata.name}" is registered twice.`);
    this.functions.set(metadata.name, { metadata, callback });
  }

  registerHook(name: string, hook: (context: object) => unknown): void {
    if (name !== "appTerminate") throw new Error(`the local host has no hook "${name}"`);
    this.#terminateHooks.push(hook);
  }

  /** Writes a line of the library. One of the app has the category of its invocation. */
  log(level: LogLevel, kind: LogCategory, message: string, category = CONSOLE_CATEGORY): void {
    // The library's own lines at this level are about itself; `func start` hides them as well.
    if (kind !== "system" || level !== "information") this.#log.write(level, message, category);
  }

  /** Takes what the app writes to its console, as the host reads the streams of the worker's process. */
  takeConsole(): void {
    const toLog =
      (levelOf: (line: string) => LogLevel) =>
      (...given: readonly unknown[]) => {
        for (const line of format(...given).split("\n"))
          this.#log.write(levelOf(line), line, CONSOLE_CATEGORY);
      };
    console.log = console.info = console.debug = toLog(() => "information");
    console.error = console.warn = console.trace = toLog(levelOfErrorLine);
  }

  /** Runs the appTerminate hooks, one after the other. */
  async end(): Promise<void> {
    for (const hook of this.#terminateHooks) await hook({ hookData: {}, appHookData: {} });
  }
}

/**
 * Loads the app's entry point. Throws what the app throws while loading: the Functions host would go on without a single
 * function, which helps nobody on a developer's machine.
 */
export async function loadApp(entry: string, log: HostLog): Promise<WorkerApp> {
  const app = new WorkerApp(log);
  provideCoreModule(app);
  app.takeConsole();
  try {
    await import(pathToFileURL(entry).href);
  } catch (cause) {
    throw new AppLoadError(`${entry} failed while it was loading`, { cause });
  }
  if (app.functions.size === 0) throw new Error(`${entry} registered no function`);
  return app;
}

/**
 * Makes `require("@azure/functions-core")` return the app's core API as the worker does, by replacing
 * `Module.prototype.require`. An `import` of that name fails, as it does there.
 */
function provideCoreModule(app: WorkerApp): void {
  const api = {
    version: WORKER_VERSION,
    hostVersion: HOST_VERSION,
    registerFunction: app.register.bind(app),
    registerHook: app.registerHook.bind(app),
    setProgrammingModel: (model: ProgrammingModel) => {
      app.programmingModel = model;
    },
    getProgrammingModel: () => app.programmingModel,
    log: (level: LogLevel, kind: LogCategory, message: string) => app.log(level, kind, message),
  };
  // Called with the module that requires, below.
  // oxlint-disable-next-line typescript/unbound-method
  const original = Module.prototype.require;
  const replacement = function require(this: Module, id: string): unknown {
    return id === CORE_MODULE ? api : original.call(this, id);
  };
  Module.prototype.require = Object.assign(replacement, original);
}
