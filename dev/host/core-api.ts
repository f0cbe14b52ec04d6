import Module from "node:module";
import type {
  FunctionCallback,
  FunctionMetadata,
  HookCallback,
  LogCategory,
  LogLevel,
  ProgrammingModel,
  RpcFunctionMetadata,
} from "./core-types.ts";
import type { HostLog } from "./host-log.ts";
import { Hooks, readOnly } from "./hooks.ts";

/** The worker and host releases whose behaviour this host follows; the library reads them to know what it may use. */
const WORKER_VERSION = "3.12.0";
const HOST_VERSION = "4.1041.0";

const CORE_MODULE = "@azure/functions-core";

export interface RegisteredFunction {
  readonly metadata: RpcFunctionMetadata;
  readonly callback: FunctionCallback;
}

/** What an app told the worker while it was loading. */
export class WorkerApp {
  readonly functions = new Map<string, RegisteredFunction>();
  readonly hooks = new Hooks();
  readonly #log: HostLog;
  programmingModel: ProgrammingModel | undefined;
  /** Set when loading is over: from then on nothing can be registered. */
  started = false;

  constructor(log: HostLog) {
    this.#log = log;
  }

  register(metadata: FunctionMetadata, callback: FunctionCallback): () => void {
    if (this.started) throw new Error("A function can only be registered during app startup.");
    const { name, functionId = name } = metadata;
    if (this.functions.has(name))
      throw new Error(`A function named "${name}" is registered twice.`);
    this.functions.set(name, {
      callback,
      metadata: {
        ...metadata,
        functionId,
        rawBindings: Object.entries(metadata.bindings).map(([binding, properties]) =>
          JSON.stringify({ ...properties, name: binding }),
        ),
        scriptFile: "n/a",
      },
    });
    return () => {
      if (this.started) throw new Error("A function can only be disposed during app startup.");
      this.functions.delete(name);
    };
  }

  /** Log hooks may change the level and the text of the app's own lines, not of the system's. */
  log(level: LogLevel, category: LogCategory, message: string, scope: LogScope = {}): void {
    if (!this.hooks.has("log")) return this.#write(level, category, message);
    const context = readOnly(
      {
        hookData: scope.hookData ?? {},
        appHookData: this.hooks.appHookData,
        invocationContext: scope.invocationContext,
        category,
        level,
        message,
      },
      ["hookData", "appHookData", "invocationContext", "category"],
    );
    this.hooks.runNow("log", context);
    if (category === "user") this.#write(context.level, category, context.message);
    else this.#write(level, category, message);
  }

  #write(level: LogLevel, category: LogCategory, message: string): void {
    // The library's own lines at debug and information level are about itself; func start hides them as well.
    if (category === "system" && level === "information") return;
    this.#log.write(level, message);
  }
}

export interface LogScope {
  readonly hookData?: Record<string, unknown>;
  readonly invocationContext?: unknown;
}

/** The worker's helper of the same name: something that can be taken back. */
class Disposable {
  #callOnDispose: (() => unknown) | undefined;

  constructor(callOnDispose: () => unknown) {
    this.#callOnDispose = callOnDispose;
  }

  static from(...disposables: { dispose(): unknown }[]): Disposable {
    return new Disposable(() => {
      for (const disposable of disposables) disposable.dispose();
    });
  }

  dispose(): unknown {
    const call = this.#callOnDispose;
    this.#callOnDispose = undefined;
    return call?.();
  }
}

function createCoreApi(app: WorkerApp): object {
  return {
    version: WORKER_VERSION,
    hostVersion: HOST_VERSION,
    registerFunction: (metadata: FunctionMetadata, callback: FunctionCallback) =>
      new Disposable(app.register(metadata, callback)),
    registerHook: (name: string, callback: HookCallback) =>
      new Disposable(app.hooks.register(name, callback)),
    setProgrammingModel: (model: ProgrammingModel) => {
      app.programmingModel = model;
    },
    getProgrammingModel: () => app.programmingModel,
    log: (level: LogLevel, category: LogCategory, message: string) =>
      app.log(level, category, message),
    Disposable,
  };
}

/**
 * Makes `require("@azure/functions-core")` answer with the app's core API, the way the worker does it: by standing in
 * front of `Module.prototype.require`. An `import` of that name fails, as it does there. Returns the way back.
 */
export function provideCoreModule(app: WorkerApp): () => void {
  const api = createCoreApi(app);
  // Called with the module that requires, below.
  // oxlint-disable-next-line typescript/unbound-method
  const original = Module.prototype.require;
  const standIn = function require(this: Module, id: string): unknown {
    return id === CORE_MODULE ? api : original.call(this, id);
  };
  Module.prototype.require = Object.assign(standIn, original);
  return () => {
    Module.prototype.require = original;
  };
}
