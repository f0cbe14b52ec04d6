import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { localFolder } from "../local-folder.ts";
import { endApp, loadApp } from "./app-loader.ts";
import type { WorkerApp } from "./core-api.ts";
import { consoleLog, errorText, minimumLevel } from "./host-log.ts";
import type { HostLog } from "./host-log.ts";
import { readHostJson } from "./host-json.ts";
import type { HostOptions } from "./host-json.ts";
import { BODY_LIMITS } from "./http-body.ts";
import { RouteTable } from "./http-routing.ts";
import { HttpServer } from "./http-server.ts";
import { Invoker } from "./invocation.ts";
import { openQueues } from "./queue-client.ts";
import { QueueListener } from "./queue-listener.ts";
import { readLocalCors, readLocalSettings, resolveConnection } from "./settings.ts";
import type { Settings } from "./settings.ts";
import { TimerListener } from "./timer-listener.ts";
import { fileTimerLock } from "./timer-lock.ts";
import { fileTimerStatusStore } from "./timer-status-store.ts";
import { readTriggers } from "./triggers.ts";
import type { QueueFunction, TimerFunction } from "./triggers.ts";

/** What the Functions host leaves to HTTP requests when it is told to end. */
const HTTP_DRAIN_MS = 30_000;
/** What it leaves to queue and timer functions; messages go on being taken meanwhile. */
const WORK_DRAIN_MS = 10_000;
const IDLE_CHECK_MS = 20;
const TERMINATE_HOOKS_MS = 5_000;
/** For the answers of what was cut off when the worker ended. */
const LAST_ANSWERS_MS = 1_000;
const POISON_SUFFIX = "-poison";

export interface StartHostOptions {
  /** The folder of host.json and local.settings.json. */
  readonly appRoot: string;
  /** The app's main file. */
  readonly entry: string;
  /** Set in this process before the app is loaded, as the app reads its settings from there. */
  readonly env?: Settings;
  /** 0 takes a free port. */
  readonly port: number;
  readonly address?: string;
  readonly log?: HostLog;
}

export interface RunningHost {
  /** With the route prefix, without a slash at the end. */
  readonly url: string;
  /** One line per function, as `func start` lists them. */
  readonly functions: readonly string[];
  /** Resolves with the reason when the worker ended and everything that ran was answered as failed. */
  readonly ended: Promise<Error>;
  /** Ends the worker, as an uncaught exception does. */
  fail(reason: Error): void;
  /** No new connection. HTTP requests may finish for 30 seconds, queue and timer functions for 10. */
  stop(): Promise<void>;
}

/** Starts the app in this process. A process can host one app only: a library that is loaded once belongs to it. */
export async function startHost(options: StartHostOptions): Promise<RunningHost> {
  const { appRoot, entry } = options;
  if (!existsSync(entry)) throw new Error(`${entry} is not there: run "npm run build" first`);
  applySettings(appRoot, options.env ?? {});
  const hostOptions = readHostJson(appRoot);
  const log = options.log ?? consoleLog(minimumLevel(hostOptions.logging.logLevel));
  const app = await loadApp(appRoot, entry, log);
  return new Host(app, hostOptions, log).start(options);
}

/** The environment comes first, local.settings.json fills the gaps, and Core Tools' own default comes last. */
function applySettings(appRoot: string, env: Settings): void {
  for (const [name, value] of Object.entries(env))
    if (value !== undefined) process.env[name] = value;
  const local = { AZURE_FUNCTIONS_ENVIRONMENT: "Development", ...readLocalSettings(appRoot) };
  for (const [name, value] of Object.entries(local)) process.env[name] ??= value;
}

class Host {
  readonly #app: WorkerApp;
  readonly #options: HostOptions;
  readonly #log: HostLog;
  readonly #invoker: Invoker;

  constructor(app: WorkerApp, options: HostOptions, log: HostLog) {
    this.#app = app;
    this.#options = options;
    this.#log = log;
    this.#invoker = new Invoker(app, log, options.functionTimeout);
  }

  async start({ appRoot, port, address }: StartHostOptions): Promise<RunningHost> {
    const triggers = readTriggers(this.#app.functions.values(), process.env);
    const prefix = this.#options.extensions.http.routePrefix.replace(/^\/+|\/+$/g, "");
    const routes = new RouteTable(triggers.http, prefix);
    for (const line of routes.hidden()) this.#log.write("warning", `warning: ${line}`);
    const queues = await Promise.all(triggers.queues.map((queue) => this.#queueListener(queue)));
    const timers = triggers.timers.map((timer) => this.#timerListener(timer, appRoot));
    const server = this.#httpServer(routes, appRoot);

    const boundPort = await server.listen(port, address ?? "127.0.0.1");
    for (const queue of queues) queue.start();
    await Promise.all(timers.map((timer) => timer.start()));
    const origin = `http://localhost:${boundPort}`;
    return {
      url: prefix === "" ? origin : `${origin}/${prefix}`,
      functions: [
        ...routes.lines().map((line) => line.replace(/\] /, `] ${origin}/`)),
        ...triggers.queues.map(({ name }) => `${name}: queueTrigger`),
        ...triggers.timers.map(({ name }) => `${name}: timerTrigger`),
      ],
      ended: this.#ended(server, [...queues, ...timers]),
      fail: (reason) => this.#invoker.end(reason),
      stop: () => this.#stop(server, [...queues, ...timers]),
    };
  }

  async #ended(server: HttpServer, listeners: readonly Listener[]): Promise<Error> {
    const reason = await this.#invoker.ended;
    const stopped = listeners.map((listener) => listener.stop());
    await within(LAST_ANSWERS_MS, Promise.all([server.drain(), ...stopped]));
    return reason;
  }

  #httpServer(routes: RouteTable, appRoot: string): HttpServer {
    const limit = Number(process.env["FUNCTIONS_REQUEST_BODY_SIZE_LIMIT"]);
    return new HttpServer({
      routes,
      invoker: this.#invoker,
      log: this.#log,
      bodyBytesMax: Number.isInteger(limit) && limit > 0 ? limit : BODY_LIMITS.bytesMax,
      ...this.#options.extensions.http,
      cors: readLocalCors(appRoot),
      showHomepage: process.env["AzureWebJobsDisableHomepage"]?.toLowerCase() !== "true",
    });
  }

  async #queueListener({ name, queueName, connection }: QueueFunction): Promise<QueueListener> {
    const service = await openQueues(resolveConnection(connection, process.env));
    return new QueueListener({
      queue: service.getQueueClient(queueName),
      poisonQueue: queueName.endsWith(POISON_SUFFIX)
        ? undefined
        : service.getQueueClient(`${queueName}${POISON_SUFFIX}`),
      options: this.#options.extensions.queues,
      invoke: (trigger) => this.#invoker.invoke(name, trigger),
      log: this.#log,
    });
  }

  #timerListener({ name, ...timer }: TimerFunction, appRoot: string): TimerListener {
    // Kept apart by storage account, as blobs would be: another storage knows nothing of this one's runs.
    const storage = JSON.stringify([
      process.env["AzureWebJobsStorage"],
      process.env["AzureWebJobsStorage__accountName"],
    ]);
    const account = createHash("sha256").update(storage).digest("hex").slice(0, 12);
    const folder = resolve(appRoot, localFolder(), "timers", account);
    return new TimerListener({
      functionName: name,
      ...timer,
      store: fileTimerStatusStore(folder, this.#log),
      lock: fileTimerLock(folder, name),
      invoke: (trigger) => this.#invoker.invoke(name, trigger),
      log: this.#log,
    });
  }

  async #stop(server: HttpServer, listeners: readonly Listener[]): Promise<void> {
    const answered = within(HTTP_DRAIN_MS, server.drain());
    await this.#stopWork(listeners);
    await answered;
    if (this.#invoker.runningCount > 0)
      this.#log.write("warning", `${this.#invoker.runningCount} invocations were cut off`);
    try {
      await within(TERMINATE_HOOKS_MS, endApp(this.#app));
    } catch (error) {
      this.#log.write("error", `an appTerminate hook failed\n${errorText(error)}`);
    }
    server.close();
  }

  /** The listeners go on until none of them has anything in hand, or the time is up. */
  async #stopWork(listeners: readonly Listener[]): Promise<void> {
    const endsAt = performance.now() + WORK_DRAIN_MS;
    while (listeners.some(({ isBusy }) => isBusy) && performance.now() < endsAt)
      await delay(IDLE_CHECK_MS);
    const left = Math.max(0, endsAt - performance.now());
    await within(left, Promise.all(listeners.map((listener) => listener.stop())));
  }
}

interface Listener {
  readonly isBusy: boolean;
  stop(): Promise<void>;
}

async function within(milliseconds: number, work: Promise<unknown>): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, milliseconds);
  try {
    await Promise.race([work, promise]);
  } finally {
    clearTimeout(timer);
  }
}
